"""The commands that make a model or use one: fit, resume, predict."""

from __future__ import annotations

from typing import Annotated

import typer

from . import names
from .options import (
    BUDGET,
    DATA,
    HOW,
    LAMBDA,
    PROBLEM,
    WHERE,
    Categorical,
    Decimal,
    Drop,
    Header,
    Missing,
    Penalty,
    Settings,
    Target,
    ZeroBased,
)


def fit(
    context: typer.Context,
    data: Annotated[
        str,
        typer.Argument(
            help="LIBSVM text, .csv, .parquet, the name of a data set, or - for stdin.",
            autocompletion=names.datasets,
        ),
    ],
    target: Target = None,
    drop: Drop = None,
    missing: Missing = "refuse",
    categorical: Categorical = None,
    decimal: Decimal = None,
    header: Header = None,
    zero_based: ZeroBased = False,
    standardize: Annotated[
        bool,
        typer.Option(
            "--standardize/--no-standardize",
            help="Fit columns of standard deviation 1; coefficients are given in the units of the data.",
            rich_help_panel=DATA,
        ),
    ] = True,
    test: Annotated[
        str | None,
        typer.Option(
            help="Data to score the model on, besides the training data.", metavar="DATA", rich_help_panel=DATA
        ),
    ] = None,
    loss: Annotated[
        str | None,
        typer.Option(
            help=names.LOSSES_SAID,
            show_default="logistic, softmax or squared, by the targets",
            autocompletion=names.losses,
            rich_help_panel=PROBLEM,
        ),
    ] = None,
    penalty: Penalty = "scad",
    set: Settings = None,
    intercept: Annotated[
        bool,
        typer.Option(
            "--intercept/--no-intercept", help="Fit an intercept, which is not penalised.", rich_help_panel=PROBLEM
        ),
    ] = True,
    lam: Annotated[
        str, typer.Option(help="Strength of the penalty: a number, or auto.", rich_help_panel=LAMBDA)
    ] = "auto",
    rule: Annotated[
        str,
        typer.Option(
            help="Rule by which auto chooses: best (the least loss in cross-validation), 1se (the largest value "
            "within one standard error of it), aic, bic or ebic (a criterion on all rows).",
            autocompletion=names.rules,
            rich_help_panel=LAMBDA,
        ),
    ] = "best",
    folds: Annotated[
        int, typer.Option(help="Number of folds of the cross-validation.", metavar="N", rich_help_panel=LAMBDA)
    ] = 5,
    lams: Annotated[
        int, typer.Option(help="Number of values that auto chooses from.", metavar="N", rich_help_panel=LAMBDA)
    ] = 30,
    solver: Annotated[
        str, typer.Option(help=names.SOLVERS_SAID, autocompletion=names.solvers, rich_help_panel=HOW)
    ] = "auto",
    seed: Annotated[int, typer.Option(help="Seed of the random draws.", metavar="N", rich_help_panel=HOW)] = 0,
    tol: Annotated[
        float,
        typer.Option(
            help="Tolerance: largest criticality, as a share of the gradient's length at the model without features.",
            rich_help_panel=BUDGET,
        ),
    ] = 1e-4,
    max_passes: Annotated[
        float, typer.Option(help="Largest number of passes over the data for one lam.", rich_help_panel=BUDGET)
    ] = 1000.0,
    max_seconds: Annotated[
        float | None, typer.Option(help="Largest number of seconds for one lam.", rich_help_panel=BUDGET)
    ] = None,
    out: Annotated[
        str | None, typer.Option(help="File to write the model to.", metavar="FILE", rich_help_panel=WHERE)
    ] = None,
    report: Annotated[
        str | None, typer.Option(help="File to write a report to, .html.", metavar="FILE", rich_help_panel=WHERE)
    ] = None,
    checkpoint: Annotated[
        str | None,
        typer.Option(help="File to save the run to, for dcopt resume.", metavar="FILE", rich_help_panel=WHERE),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace files that exist.", rich_help_panel=WHERE)] = False,
) -> None:
    """Fit a sparse linear model to data, and say what certifies it.

    Exit code 2: the budget ended before the tolerance was met; the model is written all the same.

    \b
    Examples:
      dcopt fit train.svm --penalty scad --lam auto --out model.dcm --report fit.html
      dcopt fit houses.csv --target price --penalty mcp --lam 0.1
      dcopt fit a9a --test a9a.t --rule ebic --checkpoint run.ckpt --out a9a.dcm
    """
    from .fit import run
    from .journal import Asked

    asked = Asked(
        data=data, target=target, drop=tuple(drop or ()), missing=missing, categorical=tuple(categorical or ()),
        decimal=decimal, header=header, zero_based=zero_based, loss=loss, penalty=penalty, settings=tuple(set or ()),
        lam=lam, rule=rule, folds=folds, lams=lams, standardize=standardize, intercept=intercept, solver=solver,
        tol=tol, max_passes=max_passes, max_seconds=max_seconds, seed=seed, test=test, checkpoint=checkpoint, out=out,
        report=report,
    )  # fmt: skip
    run(context.obj, asked, force)


def resume(
    context: typer.Context,
    checkpoint: Annotated[str, typer.Argument(help="Checkpoint that dcopt fit --checkpoint wrote.")],
    data: Annotated[str, typer.Argument(help="The data of the fit.", autocompletion=names.datasets)],
    tol: Annotated[
        float | None, typer.Option(help="Tolerance, if another one than that of the fit.", rich_help_panel=BUDGET)
    ] = None,
    max_passes: Annotated[
        float | None, typer.Option(help="Largest number of passes, including those before.", rich_help_panel=BUDGET)
    ] = None,
    max_seconds: Annotated[
        float | None, typer.Option(help="Largest number of seconds, including those before.", rich_help_panel=BUDGET)
    ] = None,
    out: Annotated[str | None, typer.Option(help="File to write the model to.", rich_help_panel=WHERE)] = None,
    report: Annotated[str | None, typer.Option(help="File to write a report to, .html.", rich_help_panel=WHERE)] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace files that exist.", rich_help_panel=WHERE)] = False,
) -> None:
    """Go on with a fit that was cut off, or that ran out of its budget: to the same bits as if it had not.

    The other options are those of the fit, from the file beside the checkpoint (run.ckpt.fit). The model and the
    report are written only where --out and --report name them here: a path that a file holds is not written.

    \b
    Examples:
      dcopt resume run.ckpt train.svm --out model.dcm --report fit.html
      dcopt resume run.ckpt train.svm --out model.dcm --force --max-passes 5000
      dcopt resume run.ckpt houses.csv --tol 1e-6 --out better.dcm
    """
    from .fit import resume

    changes = {"tol": tol, "max_passes": max_passes, "max_seconds": max_seconds, "out": out, "report": report}
    resume(context.obj, checkpoint, data, changes, force)


def predict(
    context: typer.Context,
    model: Annotated[str, typer.Argument(help="Model that dcopt fit --out wrote.")],
    data: Annotated[
        str, typer.Argument(help="Rows to predict, with the features of the model.", autocompletion=names.datasets)
    ],
    proba: Annotated[
        bool, typer.Option("--proba", help="Give a probability for every class.", rich_help_panel=WHERE)
    ] = False,
    by_position: Annotated[
        bool,
        typer.Option(
            "--by-position", help="Take the columns in the order of the model's, without names.", rich_help_panel=DATA
        ),
    ] = False,
    decimal: Decimal = None,
    out: Annotated[
        str | None,
        typer.Option(
            help="CSV file to write the predictions to.", metavar="FILE", show_default="stdout", rich_help_panel=WHERE
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that exists.", rich_help_panel=WHERE)] = False,
) -> None:
    """Predict with a model, and write CSV with one line for every row.

    \b
    Examples:
      dcopt predict model.dcm test.svm
      dcopt predict model.dcm test.csv --proba --out p.csv
      dcopt predict a9a.dcm a9a.t --quiet | sort | uniq -c
    """
    from .predict import run

    run(context.obj, model, data, proba, out, force, by_position, decimal)
