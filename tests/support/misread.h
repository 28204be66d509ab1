// SPDX-License-Identifier: Apache-2.0
#pragma once
// A table of patients, and the same table in files that a schema reads wrongly.

#include <string>
#include <vector>

namespace tandem::test {

inline const std::string kPatientSchema = R"(format = 1
[[column]]
name = "ward"
values = ["Köln", "Münster", "Bonn", "Düren"]
[[column]]
name = "sex"
values = ["F", "M"]
[[column]]
name = "kilos"
kind = "real"
min = 0.0
max = 150.0
bins = 15
decimals = 1
[[column]]
name = "stay"
kind = "integer"
min = 0
max = 30
)";

// How a file of patients is written.
struct PatientFile {
  bool latin1 = false;
  bool decimal_comma = false;  // and semicolons between fields
  bool lower_case = false;     // f and m
  bool coded = false;          // 0 and 1
  bool line_feeds = false;     // in the notes of every eighth patient, a column that nobody wants
};

inline std::string patients(int rows, const PatientFile& how = {}) {
  const std::vector<std::string> wards =
      how.latin1 ? std::vector<std::string>{"K\xf6ln", "M\xfcnster", "Bonn", "D\xfcren"}
                 : std::vector<std::string>{"Köln", "Münster", "Bonn", "Düren"};
  const std::string d = how.decimal_comma ? ";" : ",";
  std::string out = "ward" + d + "sex" + d + "note" + d + "kilos" + d + "stay\n";
  for (int i = 0; i < rows; ++i) {
    const bool man = i % 3 == 0;
    const std::string sex = how.coded        ? (man ? "1" : "0")
                            : how.lower_case ? (man ? "m" : "f")
                                             : (man ? "M" : "F");
    out += wards[static_cast<std::size_t>(i * i % 7 % 4)] + d + sex + d;
    if (how.line_feeds && i % 8 == 0) {
      out += "\"first\nsecond\"";
    } else {
      out += "fine";
    }
    out += d + std::to_string(40 + i * 7 % 60) + (how.decimal_comma ? "," : ".") +
           std::to_string(i % 10) + d + std::to_string(i % 11) + "\n";
  }
  return out;
}

}  // namespace tandem::test
