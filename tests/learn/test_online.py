"""partial_fit: the same bits however the stream is cut; what does not belong to it is refused."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from learn.data import numbers, three_classes, two_classes

import dcopt
from dcopt.errors import BadInput, BadSettings

pytestmark = pytest.mark.filterwarnings("ignore:partial_fit has:UserWarning")

CUTS = ([1500], [1] * 5 + [300, 7, 1188], [100] * 15)


def feed(model, X, y, cut, classes):
    at = 0
    options = {} if classes is None else {"classes": classes}
    for size in cut:
        model.partial_fit(X[at : at + size], y[at : at + size], **options)
        at += size
    return model


@pytest.mark.parametrize("wrap", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("kind", ["two", "three", "numbers"])
def test_the_same_bits_for_every_cut(kind, wrap):
    X, y = {"two": two_classes, "three": three_classes, "numbers": numbers}[kind](1500)
    classes = None if kind == "numbers" else np.unique(y)
    make = dcopt.DCRegressor if kind == "numbers" else dcopt.DCClassifier
    models = [feed(make(lam=0.02, random_state=0), wrap(X), y, cut, classes) for cut in CUTS]
    for model in models[1:]:
        np.testing.assert_array_equal(model.x_, models[0].x_)
        for name in ("drift_", "n_iter_", "certificate_"):
            assert getattr(model, name) == getattr(models[0], name)
    assert models[0].n_iter_ > 10 and "a sample of 256" in str(models[0].certificate_)
    assert models[0].score(wrap(X), y) > 0.65


def test_a_pickle_in_the_middle_goes_on_the_same():
    X, y = two_classes(1500)
    one = feed(dcopt.DCClassifier(lam=0.02, random_state=0), X, y, [700], ["no", "yes"])
    other = pickle.loads(pickle.dumps(one))
    for model in (one, other):
        model.partial_fit(X[700:], y[700:])
    np.testing.assert_array_equal(one.x_, other.x_)


def test_what_does_not_belong_is_refused_and_nothing_is_lost():
    X, y = two_classes(900)
    with pytest.raises(BadInput, match="classes.*first call"):
        dcopt.DCClassifier().partial_fit(X, y)
    model = dcopt.DCClassifier(lam=0.02, random_state=0).partial_fit(X[:400], y[:400], classes=["no", "yes"])
    x = model.x_.copy()
    with pytest.raises(BadInput, match="maybe is not one of the classes"):
        model.partial_fit(X[:3], ["yes", "maybe", "no"])
    with pytest.raises(ValueError, match="7 features"):
        model.partial_fit(X[:, :7], y)
    with pytest.raises(BadInput, match="not those of the first call"):
        model.partial_fit(X, y, classes=["no", "maybe", "yes"])
    np.testing.assert_array_equal(model.x_, x)
    model.partial_fit(X[400:], y[400:])
    straight = dcopt.DCClassifier(lam=0.02, random_state=0).partial_fit(X, y, classes=["no", "yes"])
    np.testing.assert_array_equal(model.x_, straight.x_)


def test_before_the_first_batch_it_is_the_null_model():
    X, y = two_classes(100, share=0.2)
    model = dcopt.DCClassifier().partial_fit(X, y, classes=["no", "yes"])
    assert not model.coef_.any() and model.n_iter_ == 0 and "waiting for 256" in str(model.certificate_)
    assert model.predict_proba(X[:1])[0, 1] == pytest.approx(0.2, abs=1e-6)


def test_drift_shows():
    X, y = two_classes(8000)
    model = dcopt.DCClassifier(lam=0.01, random_state=0).partial_fit(X, y, classes=["no", "yes"])
    assert 0.7 < model.drift_ < 1.15
    turned = np.where(y == "yes", "no", "yes")
    model.partial_fit(X[:1500], turned[:1500])
    assert model.drift_ > 1.5


def test_it_gets_near_what_fit_finds():
    X, y = two_classes(30_000)
    stream = dcopt.DCClassifier(lam=0.02, random_state=0).partial_fit(X, y, classes=["no", "yes"])
    whole = dcopt.DCClassifier(lam=0.02).fit(X, y)
    assert np.abs(stream.coef_ - whole.coef_).max() < 0.4 and stream.score(X, y) > whole.score(X, y) - 0.01
    fitted = dcopt.DCClassifier(lam=0.02, random_state=0).fit(X[:5000], y[:5000])
    fitted.partial_fit(X[5000:], y[5000:])  # goes on from the fitted solution
    assert np.abs(fitted.coef_ - whole.coef_).max() < 0.4


# ---- after a fit, and settings


def test_a_stream_goes_on_from_a_fit_however_it_is_cut():
    X, y = two_classes(1400)
    fitted = [dcopt.DCClassifier(penalty="l1", lam=0.02, random_state=0).fit(X[:400], y[:400]) for _ in CUTS]
    before = fitted[0].coef_.copy()
    fitted[0].partial_fit(X[400:410], y[400:410])
    np.testing.assert_array_equal(fitted[0].coef_, before)  # it waits, and predicts as before
    for model, cut in zip(fitted[1:], ([1000], [100] * 10), strict=True):
        feed(model, X[400:], y[400:], cut, None)
    np.testing.assert_array_equal(fitted[1].x_, fitted[2].x_)
    assert fitted[1].n_iter_ > 0 and not np.array_equal(fitted[1].coef_, before)


def test_the_start_of_a_stream_is_not_what_was_shown_while_it_waited():
    X, y = two_classes(400)
    models = [dcopt.DCClassifier(lam=0.02, random_state=0, warm_start=True) for _ in range(2)]
    for model, cut in zip(models, ([400], [40] * 10), strict=True):
        feed(model, X, y, cut, ["no", "yes"])
    np.testing.assert_array_equal(models[0].x_, models[1].x_)


def test_lam_is_the_one_that_is_set():
    X, y = two_classes(800)
    model = dcopt.DCClassifier(penalty="l1", lam=0.02).partial_fit(X[:100], y[:100], classes=["no", "yes"])
    assert model.lam_ == 0.02 and "waiting" in str(model.certificate_)
    model.partial_fit(X[100:500], y[100:500])
    model.set_params(lam=0.3).partial_fit(X[500:], y[500:])
    assert model.lam_ == 0.3


def test_what_is_refused_is_named_by_its_row_in_this_call():
    X, y = two_classes(300)
    model = dcopt.DCClassifier(holdout=10, random_state=0).partial_fit(X[:25], y[:25], classes=["no", "yes"])
    before = model.x_.copy()
    with pytest.raises(BadInput, match="y, row 2: perhaps is not one of the classes"):
        model.partial_fit(X[:4], ["no", "yes", "perhaps", "no"])
    with pytest.raises(BadInput, match="y, row 0: 1 is not one of the classes"):
        model.partial_fit(X[:2], [1, 0])
    large = X[:4].copy()
    large[1, 3] = 1e200
    with pytest.raises(BadInput, match="X, row 1, column 3"):
        model.partial_fit(large, y[:4])
    np.testing.assert_array_equal(model.x_, before)


@pytest.mark.parametrize("classes", [[], ["a"], [0, 1, np.nan], [0, "a", None]])
def test_classes_that_are_none(classes):
    with pytest.raises(BadInput, match="classes"):
        dcopt.DCClassifier().partial_fit(*two_classes(30), classes=classes)


def test_settings_that_a_stream_cannot_have():
    X, y = two_classes(30)
    for settings in ({"class_weight": "balanced"}, {"measure": "x"}, {"tol": -1.0}):
        with pytest.raises(BadSettings, match=next(iter(settings))):
            dcopt.DCClassifier(**settings).partial_fit(X, y, classes=["no", "yes"])


# ---- weights


@pytest.mark.parametrize("wrap", [np.asarray, sp.csr_array])
def test_weights_say_how_often_a_sample_comes(wrap):
    X, y = two_classes(600)
    often = np.random.default_rng(0).integers(0, 4, 600)
    at = np.repeat(np.arange(600), often)
    weighted, repeated = (dcopt.DCClassifier(lam=0.02, random_state=0) for _ in range(2))
    weighted.partial_fit(wrap(X), y, classes=["no", "yes"], sample_weight=often)
    repeated.partial_fit(wrap(X[at]), y[at], classes=["no", "yes"])
    np.testing.assert_array_equal(weighted.x_, repeated.x_)
    assert weighted.n_iter_ > 0 and weighted.certificate_ == repeated.certificate_


def test_samples_without_weight_leave_all_as_it_was():
    X, y = two_classes(800)
    new = dcopt.DCClassifier(lam=0.02).partial_fit(X, y, classes=["no", "yes"], sample_weight=np.zeros(800))
    assert not [name for name in vars(new) if name.endswith("_")]
    new.partial_fit(X, y, classes=["never", "no", "yes"])  # what was declared with them is not binding
    model = dcopt.DCClassifier(lam=0.02, random_state=0).partial_fit(X, y, classes=["no", "yes"])
    before, x = pickle.dumps(model), model.x_.copy()
    model.partial_fit(X[:50], y[:50], sample_weight=np.zeros(50))
    assert pickle.dumps(model) == before
    np.testing.assert_array_equal(model.x_, x)


@pytest.mark.parametrize("weights", [None, [5, 1, 0, 1]])
def test_a_row_is_refused_by_its_own_number(weights):
    X, model = two_classes(4)[0], dcopt.DCClassifier()
    with pytest.raises(BadInput, match="y, row 3: 7 is not one"):
        model.partial_fit(X, [0, 1, 0, 7], classes=[0, 1], sample_weight=weights)
    A = sp.csr_array(X)
    A.indptr = A.indptr.copy()
    A.indptr[2] = 10**7  # what gathers rows before they are checked reads behind the end
    with pytest.raises(BadInput, match="malformed CSR"):
        model.partial_fit(A, [0, 1, 0, 1], classes=[0, 1], sample_weight=weights)


@pytest.mark.parametrize("weight", [0.5, -1.0, np.nan, np.inf, 1e19])
def test_weights_that_are_no_repetitions(weight):
    X, y = two_classes(30)
    weights = np.ones(30)
    weights[7] = weight
    with pytest.raises(BadInput, match="sample_weight, row 7"):
        dcopt.DCClassifier().partial_fit(X, y, classes=["no", "yes"], sample_weight=weights)
