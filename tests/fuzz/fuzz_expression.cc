// Fuzzes expressions. The input is two documents: one whose fields are expressions, and one for
// which they are evaluated. The results must be valid BSON, the same a second time, and within the
// arena's limit.

#include <cstdlib>
#include <vector>

#include "engine/bson/builder.h"
#include "engine/query/expression/expression.h"
#include "tests/fuzz/documents_in.h"
#include "tests/fuzz/limited_checks_interruption.h"

using namespace gridmount;

namespace {

constexpr uint64_t kArenaBytes = uint64_t{8} << 20;

// Returns a document with the value as its only field, or an empty one if it is missing.
bson::Document holding(const std::optional<bson::ValueView>& value) {
  bson::Builder builder;
  if (value) builder.append("", *value);
  return std::move(builder).finish();
}

bool uses_chance(bson::View document) {
  const std::string_view bytes(reinterpret_cast<const char*>(document.data()), document.size());
  return bytes.find("$rand") != std::string_view::npos;
}

void check(const query::Expression& expression, bson::View document, bool is_repeatable,
           size_t slots, const LimitedChecksInterruption& limit) {
  query::Arena arena(kArenaBytes);
  query::EvaluationContext context{document, {}, arena, bson::Date{0}};
  context.variables.resize(slots);
  const auto first = expression.evaluate(context);
  if (!first) return;
  const bson::Document result = holding(*first);
  if (!bson::validate(result.view().bytes(), UINT32_MAX)) abort();
  arena.clear();
  const auto again = expression.evaluate(context);
  if (!is_repeatable || limit.reached()) return;
  if (!again || holding(*again).view().size() != result.view().size()) abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::vector<bson::View> documents = documents_in({data, size});
  if (documents.empty()) return 0;
  LimitedChecksInterruption limit;
  const query::InterruptionScope interruption(limit);
  const bson::View specification = documents[0];
  const bson::View document = documents.size() > 1 ? documents[1] : bson::View();
  const bool is_repeatable = !uses_chance(specification);
  query::VariableScope scope;
  if (!scope.declare("v")) abort();
  for (const bson::Element element : specification) {
    const auto expression = query::parse_expression(element.value, scope);
    if (!expression) continue;
    std::set<std::string> paths;
    (*expression)->add_dependencies(paths);
    check(**expression, document, is_repeatable, scope.slots(), limit);
    check(**expression, specification, is_repeatable, scope.slots(), limit);
  }
  return 0;
}
