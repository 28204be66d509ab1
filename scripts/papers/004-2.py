#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Figure 2 of the JAM-PGM paper: Titanic, 1,004 private and 300 public rows, six epsilons, delta 1e-9;
the mechanisms of figure 1. Usage: 004-2.py [--quick] [--threads N]
[SEEDS]."""
from jam_figures import JAM, OURS, draw, flat, run

figure, _ = run("004-2", ["titanic"], 1, 5, "rows")
draw(figure, "titanic", "Titanic")
for label in ("AIM", "GEM"):
    figure.below(f"without public data ({label}) errors are above JAM-PGM's to epsilon 3.16",
                 "titanic", JAM, label, lambda e: e < 3.17)
figure.below("MW-Pub is below JAM-PGM, or within 5%, to epsilon 0.1", "titanic", "MW-Pub", JAM,
             lambda e: e <= 0.1, factor=1.05)
flat(figure, "titanic", "MW-Pub", "MW-Pub hardly falls with epsilon")
figure.below("GEM-Pub with T 1 is below T 5 below epsilon 3.16", "titanic", figure.few, figure.many,
             lambda e: e < 3)
figure.below("ours: the default of JAM-PGM is below it as printed", "titanic", OURS, JAM)
figure.below("ours: tandem is below JAM-PGM as printed", "titanic", "tandem", JAM)
figure.done()
