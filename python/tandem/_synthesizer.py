# SPDX-License-Identifier: Apache-2.0
"""scikit-learn's shape."""

from ._api import synthesize
from ._errors import UsageError


class Synthesizer:
    """Parameters as given; `fit` spends budget and leaves `release_`. A second fit would spend again,
    so it must say again=True. There is no random_state: noise is never repeated, and a `seed` stamps
    the release NOT PRIVATE.

    >>> import tandem
    >>> schema = tandem.Schema.draft({"sex": ["F", "M"], "age": [0, 99]})
    >>> synthesizer = tandem.Synthesizer("mst", epsilon=1, schema=schema)
    >>> len(synthesizer.fit({"sex": ["F", "M"] * 100, "age": list(range(50)) * 4}).sample(7)["sex"])
    7
    """

    PARAMETERS = ("mechanism", "epsilon", "delta", "schema", "workload", "parameters", "rows",
                  "neighbors", "rows_per_person", "person", "certify_share", "ledger", "seed",
                  "memory_limit", "threads", "private_as_public")

    def __init__(self, mechanism="auto", *, epsilon=1.0, delta=1e-9, schema=None,
                 workload="all-3way", parameters=None, rows=0, neighbors="replace-one",
                 rows_per_person=1, person=None, certify_share=0.03, ledger=None, seed=None,
                 memory_limit=None, threads=0, private_as_public=False):
        self.mechanism = mechanism
        self.epsilon = epsilon
        self.delta = delta
        self.schema = schema
        self.workload = workload
        self.parameters = parameters
        self.rows = rows
        self.neighbors = neighbors
        self.rows_per_person = rows_per_person
        self.person = person
        self.certify_share = certify_share
        self.ledger = ledger
        self.seed = seed
        self.memory_limit = memory_limit
        self.threads = threads
        self.private_as_public = private_as_public

    def get_params(self, deep=True):
        return {name: getattr(self, name) for name in self.PARAMETERS}

    def set_params(self, **parameters):
        for name, value in parameters.items():
            if name not in self.PARAMETERS:
                raise UsageError(f"{name} is no parameter of Synthesizer; known are "
                                 f"{', '.join(self.PARAMETERS)}.")
            setattr(self, name, value)
        return self

    def fit(self, private, y=None, *, public=None, progress=None, again=False, out=None, resume=False,
            force=False):
        if hasattr(self, "release_") and not again:
            raise UsageError("This Synthesizer is fitted, and another fit spends budget again; say "
                             "again=True if you mean it.")
        self.release_ = synthesize(private, public=public, progress=progress, out=out, resume=resume,
                                   force=force, **self.get_params())
        return self

    def _fitted(self):
        if not hasattr(self, "release_"):
            raise UsageError("This Synthesizer is not fitted; call fit first.")
        return self.release_

    def sample(self, rows, *, seed=None):
        return self._fitted().sample(rows, seed=seed)

    def marginal(self, columns, *, model=False):
        """release_.marginal: numbers with error bars."""
        return self._fitted().marginal(columns, model=model)

    def answer(self, workload, *, model=False):
        """release_.answer: answers to any workload."""
        return self._fitted().answer(workload, model=model)

    def __repr__(self):
        fresh = type(self)().get_params()
        told = [f"{name}={value!r}" for name, value in self.get_params().items()
                if value is not fresh[name] and value != fresh[name]]
        return f"Synthesizer({', '.join(told)})"
