# SPDX-License-Identifier: Apache-2.0
"""scikit-learn's shape."""

from ._api import synthesize
from ._errors import UsageError


class Synthesizer:
    """Parameters as given; `fit` spends budget and leaves `release_`. A second fit would spend again,
    so it must say again=True."""

    def __init__(self, mechanism="auto", *, epsilon=1.0, delta=1e-9, schema=None,
                 workload="all-3way", parameters=None, ledger=None, seed=None):
        self.mechanism = mechanism
        self.epsilon = epsilon
        self.delta = delta
        self.schema = schema
        self.workload = workload
        self.parameters = parameters
        self.ledger = ledger
        self.seed = seed

    def get_params(self, deep=True):
        return dict(vars(self)) if not hasattr(self, "release_") else {
            name: value for name, value in vars(self).items() if not name.endswith("_")}

    def set_params(self, **parameters):
        for name, value in parameters.items():
            if name not in self.get_params():
                raise UsageError(f"{name} is no parameter of Synthesizer; known are "
                                 f"{', '.join(self.get_params())}.")
            setattr(self, name, value)
        return self

    def fit(self, private, y=None, *, public=None, again=False):
        if hasattr(self, "release_") and not again:
            raise UsageError("This Synthesizer is fitted, and another fit spends budget again; say "
                             "again=True if you mean it.")
        self.release_ = synthesize(private, public=public, **self.get_params())
        return self

    def sample(self, rows, *, seed=None):
        if not hasattr(self, "release_"):
            raise UsageError("This Synthesizer is not fitted; call fit first.")
        return self.release_.sample(rows, seed=seed)
