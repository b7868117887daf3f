// Tables of aggregation expressions, each with its result for a document or the code of its error.
// Short forms in the JSON: L(5) is an int64, D(1.5) a Decimal128, T(2020-01-31T00:00:00Z) a date.
#pragma once

#include <gtest/gtest.h>

#include <span>
#include <string>
#include <string_view>

#include "engine/query/expression/expression.h"
#include "tests/engine/query/parse_json.h"

namespace gridmount::query {

struct ExpressionCase {
  const char* expression;
  // A value, "missing", or "!" and the code of an error: "!16020". A part of the error's message
  // may follow: "!16020 takes exactly".
  const char* expected;
};

inline constexpr bson::Date kTestNow{1'600'000'000'123};

inline std::string with_short_forms(std::string text) {
  const std::pair<std::string_view, std::string_view> kForms[] = {
      {"L(", "{'$numberLong': '"}, {"D(", "{'$numberDecimal': '"}, {"T(", "{'$date': '"}};
  for (const auto& [form, json] : kForms) {
    for (size_t at = text.find(form); at != std::string::npos; at = text.find(form, at)) {
      text.replace(text.find(')', at), 1, "'}");
      text.replace(at, form.size(), json);
    }
  }
  return text;
}

// Returns "missing", the value as canonical JSON with ' instead of ", or "!" with the code and
// message of the error.
inline std::string evaluate_to_text(bson::ValueView expression, bson::View document) {
  VariableScope scope;
  const auto describe = [](const Error& error) {
    return "!" + std::to_string(static_cast<int>(error.code())) + " " + error.message();
  };
  const auto parsed = parse_expression(expression, scope);
  if (!parsed) return describe(parsed.error());
  Arena arena;
  EvaluationContext context{document, {}, arena, kTestNow};
  const auto value = (*parsed)->evaluate(context);
  if (!value) return describe(value.error());
  if (!*value) return "missing";
  std::string text = bson::to_json(**value, bson::JsonForm::kCanonical);
  std::replace(text.begin(), text.end(), '"', '\'');
  return text;
}

inline void check_expressions(std::span<const ExpressionCase> cases, const char* document_text) {
  const bson::Document document = parse_json(with_short_forms(document_text));
  for (const ExpressionCase& test : cases) {
    const bson::Document expression =
        parse_json(with_short_forms("{'x': " + std::string(test.expression) + "}"));
    const std::string found = evaluate_to_text(*expression.find("x"), document);
    std::string expected = test.expected;
    if (expected.starts_with('!')) {
      const size_t space = expected.find(' ');
      const std::string message = space == std::string::npos ? "" : expected.substr(space + 1);
      EXPECT_EQ(found.substr(0, found.find(' ')), expected.substr(0, space))
          << test.expression << " gave " << found;
      EXPECT_NE(found.find(message), std::string::npos) << test.expression << " gave " << found;
      continue;
    }
    if (expected != "missing") {
      const bson::Document value = parse_json(with_short_forms("{'x': " + expected + "}"));
      expected = bson::to_json(*value.find("x"), bson::JsonForm::kCanonical);
      std::replace(expected.begin(), expected.end(), '"', '\'');
    }
    EXPECT_EQ(found, expected) << test.expression;
  }
}

}  // namespace gridmount::query
