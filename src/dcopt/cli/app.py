"""The commands and their options. What a command does is in the file of its name, imported when it runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from . import names

HELP = """Stochastic difference-of-convex optimization.

\b
Start here:
  dcopt datasets                         what data there is, and where
  dcopt fit breast_cancer                a sparse model, lam by cross-validation
  dcopt plan breast_cancer --eps 1e-5    what the theory promises for it
  dcopt reproduce --quick                the paper's experiments, small
"""
AFTER = """--quiet, --json and --debug are understood after the command, too.

Exit codes: 0 done, 1 bad input, 2 not converged, 70 a bug in dcopt, 130 interrupted, 143 terminated."""
WHAT, HOW, WHERE = "What is run", "How", "Where to"  # panels of the help
PROMISE, PROBLEM = "The promise", "The problem"
DATA, LAMBDA, BUDGET = "The data", "lam", "When to stop"

app = typer.Typer(
    help=HELP,
    epilog=AFTER,
    invoke_without_command=True,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["--help", "-h"]},
)


@app.callback()
def program(
    context: typer.Context,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print only results and errors.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print the result as one JSON object on stdout.")] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Print errors with their traceback.")] = False,
    version: Annotated[bool, typer.Option("--version", help="Print the version of dcopt.")] = False,
) -> None:
    terminal = context.obj
    terminal.quiet, terminal.json, terminal.debug = quiet, json, debug
    if version:
        from .. import __version__

        terminal.result({"version": __version__}, f"dcopt {__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        context.get_help()  # typer prints it
        raise typer.Exit


Penalty = Annotated[
    str, typer.Option(help=names.PENALTIES_SAID, autocompletion=names.penalties, rich_help_panel=PROBLEM)
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        help="Setting of the penalty (in fit also of the loss, as loss.NAME=NUMBER). May be repeated.",
        metavar="NAME=NUMBER",
        autocompletion=names.settings,
        rich_help_panel=PROBLEM,
    ),
]


Target = Annotated[
    str | None,
    typer.Option(help="Column to predict (CSV, Parquet): its name, or its number from 1 on.", rich_help_panel=DATA),
]
Drop = Annotated[list[str] | None, typer.Option(help="Column to leave out. May be repeated.", rich_help_panel=DATA)]
Missing = Annotated[
    str,
    typer.Option(
        help="Rows with missing cells: refuse, drop, or mean (fill in the mean of the column).",
        autocompletion=names.missing,
        rich_help_panel=DATA,
    ),
]
Categorical = Annotated[
    list[str] | None,
    typer.Option(
        help="A column whose values are levels, though they look like numbers; may be repeated.",
        metavar="COLUMN",
        rich_help_panel=DATA,
    ),
]
Decimal = Annotated[
    str | None,
    typer.Option(
        help="Decimal sign of CSV cells, a point or a comma.",
        metavar="CHARACTER",
        show_default="by the cells",
        rich_help_panel=DATA,
    ),
]
Header = Annotated[
    bool | None,
    typer.Option(
        "--header/--no-header",
        help="Whether the first line of CSV has names.",
        show_default="by the line",
        rich_help_panel=DATA,
    ),
]
ZeroBased = Annotated[
    bool,
    typer.Option("--zero-based", help="Indices of LIBSVM text start at 0, not at 1.", rich_help_panel=DATA),
]


@app.command()
def reproduce(
    context: typer.Context,
    experiments: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="EXPERIMENT", help=names.EXPERIMENTS_SAID, autocompletion=names.experiments, show_default="all"
        ),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Run small versions, with fewer runs and methods.", rich_help_panel=WHAT)
    ] = False,
    recipe: Annotated[
        Path | None, typer.Option(help="Recipe of your own, in TOML.", metavar="FILE", rich_help_panel=WHAT)
    ] = None,
    jobs: Annotated[
        int, typer.Option("--jobs", "-j", help="Number of processes.", metavar="N", rich_help_panel=HOW)
    ] = 1,
    out: Annotated[
        Path, typer.Option(help="Folder of the report and the traces.", metavar="FOLDER", rich_help_panel=WHERE)
    ] = Path("results"),
    force: Annotated[
        bool, typer.Option("--force", help="Delete results that exist, and start over.", rich_help_panel=WHERE)
    ] = False,
) -> None:
    """Run the paper's experiments, and put its claims beside what was measured.

    Runs that ended are kept in the folder of the results: the same command continues where it was cut off.

    \b
    Examples:
      dcopt reproduce --quick --jobs 2
      dcopt reproduce binary multiclass --out figures
      dcopt reproduce binary --recipe mine.toml
    """
    from .reproduce import run

    run(context.obj, experiments or ["all"], out, quick, jobs, force, recipe)


@app.command()
def datasets(
    context: typer.Context,
    name: Annotated[
        str | None,
        typer.Argument(metavar="NAME", help="Data set to describe in detail.", autocompletion=names.datasets),
    ] = None,
    fetch: Annotated[
        bool, typer.Option("--fetch", help="Download the data set into the cache.", rich_help_panel=HOW)
    ] = False,
) -> None:
    """List the data sets known by name: their sizes, where they are, and their licences.

    LIBSVM files are taken from the folder DCOPT_DATA, if that variable is set, and else from the cache.

    \b
    Examples:
      dcopt datasets
      dcopt datasets a9a --fetch
      dcopt datasets --json | jq '.datasets[] | select(.rows > 9999) | .name'
    """
    from .datasets import run

    run(context.obj, name, fetch)


@app.command()
def plan(
    context: typer.Context,
    data: Annotated[
        str,
        typer.Argument(
            help="LIBSVM text, .csv, .parquet, the name of a data set, or - for stdin.",
            autocompletion=names.datasets,
        ),
    ],
    eps: Annotated[float, typer.Option(help="Accuracy to plan for: E measure(x̂) ≤ eps.", rich_help_panel=PROMISE)],
    measure: Annotated[
        str,
        typer.Option(
            help="Measure of accuracy: gap or criticality.", autocompletion=names.measures, rich_help_panel=PROMISE
        ),
    ] = "gap",
    setting: Annotated[
        str,
        typer.Option(
            help="Setting of the theorems: finite-sum or online.", autocompletion=names.cases, rich_help_panel=PROMISE
        ),
    ] = "finite-sum",
    mode: Annotated[
        str,
        typer.Option(
            help="Kind of the plan: certified, paper or practical.", autocompletion=names.modes, rich_help_panel=PROMISE
        ),
    ] = "certified",
    loss: Annotated[
        str, typer.Option(help=names.LOSSES_SAID, autocompletion=names.losses, rich_help_panel=PROBLEM)
    ] = "squared-sigmoid",
    penalty: Penalty = "zero",
    set: Settings = None,
    target: Target = None,
    drop: Drop = None,
    missing: Missing = "refuse",
    categorical: Categorical = None,
    decimal: Decimal = None,
    header: Header = None,
    zero_based: ZeroBased = False,
    normalize: Annotated[
        bool, typer.Option("--normalize", help="Scale every row to norm 1.", rich_help_panel=PROBLEM)
    ] = False,
    decomposition: Annotated[
        str,
        typer.Option(
            help="Kind of G: scalar, diagonal or gram.", autocompletion=names.decompositions, rich_help_panel=PROBLEM
        ),
    ] = "scalar",
    compare: Annotated[
        bool, typer.Option("--compare", help="Also predict the cost of every method of Table I.")
    ] = False,
) -> None:
    """Batch sizes, probability, κ, steps and cost that the theorems give for your data.

    \b
    Examples:
      dcopt plan breast_cancer --normalize --eps 1e-3
      dcopt plan a9a --normalize --penalty exponential --set lam=3e-5 --eps 1e-3
      dcopt plan houses.csv --target sold --loss logistic --penalty scad --eps 1e-3 --compare
    """
    from ..datasets.tables import Columns
    from .plan import explain

    asked = {"eps": eps, "measure": measure, "setting": setting, "mode": mode}
    wanted = Columns(
        target, tuple(drop or ()), missing=missing, categorical=tuple(categorical or ()), decimal=decimal,
        header=header, zero_based=zero_based,
    )  # fmt: skip
    explain(context.obj, data, wanted, loss, penalty, set or [], normalize, compare, decomposition, **asked)


@app.command()
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
            "within one standard error of it), bic or ebic (a criterion on all rows).",
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


@app.command()
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


@app.command()
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


@app.command()
def inspect(
    context: typer.Context,
    file: Annotated[
        str, typer.Argument(help="Model, checkpoint, journal of a fit, or data.", autocompletion=names.datasets)
    ],
    target: Annotated[str | None, typer.Option(help="Column of the targets (CSV, Parquet).")] = None,
    decimal: Decimal = None,
    header: Header = None,
) -> None:
    """Describe a file: shapes, settings, coefficients, certificate and digest; of data, classes and scales.

    \b
    Examples:
      dcopt inspect model.dcm
      dcopt inspect run.ckpt --json | jq .step
      dcopt inspect houses.csv --target price
    """
    from .inspect import run

    run(context.obj, file, target, decimal, header)
