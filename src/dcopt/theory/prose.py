"""A plan as a paragraph of the paper with this problem's numbers in it."""

from __future__ import annotations

import textwrap

from .record import Plan

_THEOREM = {
    ("finite-sum", "criticality"): "A (finite sum, critical distance)",
    ("finite-sum", "gap"): "C (finite sum, gap)",
    ("online", "criticality"): "B (online, critical distance)",
    ("online", "gap"): "C (online, gap)",
}
_MODE = {"certified": "mended theory, κ raised where needed", "paper": "as printed", "practical": "what dca-page does"}


def paragraph(plan: Plan) -> str:
    """Choices, conditions, cost; then the constants and where each is from."""
    n = "a stream" if plan.P.n is None else f"N = {plan.P.n}"
    b = "b = N" if plan.b is None else f"b = {plan.b}"
    raised = f" (raised by η = {plan.eta:.4g})" if plan.eta else ""
    kappa = "" if plan.kappa is None else f", κ = {plan.kappa:.5g}{raised}"
    if plan.kappa is None and raised:
        kappa = f", η = {plan.eta:.4g} added to G"
    if plan.tau is not None:
        kappa = f", τ = {plan.tau:.5g}"
    a = "" if plan.a is None else f", γ = {plan.gamma:.4g}, a = {plan.a:.4g}"
    last = "x_1 … x_T" if plan.measure == "criticality" else "x_0 … x_{T−1}"
    passes = "" if plan.P.n is None else f" = {plan.gradients / plan.P.n:.3g} passes"
    text = (
        f"DCA-PAGE, theorem {_THEOREM[plan.setting, plan.measure]}, {_MODE[plan.mode]}. For E {plan.measure}(x̂) ≤ "
        f"ε = {plan.eps:g} with {n}, take {b}, b' = {plan.b_small}, p = {plan.p:.4g}{kappa}{a}, and T = {plan.T} "
        f"steps from F(x0) − inf F ≤ {plan.D0:.4g}; x̂ is drawn uniformly from {last}. Expected cost: "
        f"{plan.gradients:.4g} component gradients{passes} ({plan.paper_gradients:.4g} as the paper counts), "
        f"{plan.bytes / 1e6:.2g} MB beside the data."
    )
    broken = "; ".join(plan.violated)
    open_ = "; ".join(plan.uncertified)
    verdict = f"No condition is violated. NOT CERTIFIED: {open_}." if open_ else "Every condition holds."
    verdict = f"VIOLATED: {broken}. T carries no guarantee." if broken else verdict
    lines = [str(plan.P), textwrap.fill(text, 100), "", "Conditions"]
    lines += [f"  {condition}" for condition in plan.conditions] + [f"  {verdict}"]
    lines += [textwrap.fill(f"Remark: {remark}.", 100, subsequent_indent="  ") for remark in plan.remarks]
    lines += ["", f"Constants{' before η was added' if plan.eta else ''}"]
    for name, value, how in plan.constants:
        lines.append(f"  {name:8} {'∞' if value is None else f'{value:.6g}':>12}   {how}")
    return "\n".join(lines)
