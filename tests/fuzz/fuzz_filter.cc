// Fuzzes filters. The input is a sequence of documents: a filter, which is also used as a schema
// and as an expression, and the documents that are matched. Exactly one of a filter and its
// negation must match. The explanation of a mismatch must be a valid document.

#include <cstdlib>

#include "engine/bson/builder.h"
#include "engine/query/expression/expression.h"
#include "engine/query/filter/filter.h"
#include "tests/fuzz/documents_in.h"
#include "tests/fuzz/limited_checks_interruption.h"

using namespace gridmount;

namespace {

constexpr size_t kMatchedMax = 3;
// Limit of the values that expressions make: with the usual limit {$range: [0, 1e9]} takes a
// second.
constexpr uint64_t kArenaBytes = uint64_t{1} << 20;

Result<bool> evaluate(const query::Filter& filter, bson::View document) {
  query::Arena arena(kArenaBytes);
  query::EvaluationContext context{document, {}, arena, bson::Date::now()};
  return filter.evaluate(document, &context);
}

bson::Document nested(std::string_view name, bson::View specification) {
  bson::Builder builder;
  builder.append(name, specification);
  return std::move(builder).finish();
}

bson::Document negated(bson::View specification) {
  bson::Builder builder;
  builder.open_array("$nor").push(specification).close();
  return std::move(builder).finish();
}

// A result that differs each time cannot be distinguished from a bug.
bool is_random(bson::View specification) {
  const auto bytes = specification.bytes();
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  for (const char* name : {"$sampleRate", "$rand", "$$NOW"}) {
    if (text.find(name) != std::string_view::npos) return true;
  }
  return false;
}

void check_explanation(const query::Filter& filter, bson::View document) {
  const bson::Document explanation = filter.explain_failure(document);
  if (!bson::validate(explanation.view().bytes())) abort();
}

void check(bson::View specification, const std::vector<bson::View>& documents,
           const LimitedChecksInterruption& limit) {
  const Result<query::Filter> filter = query::Filter::parse(specification);
  if (!filter) return;
  const Result<query::Filter> negation = query::Filter::parse(negated(specification));
  const bool comparable = negation && !is_random(specification);
  for (const bson::View document : documents) {
    const Result<bool> matches = evaluate(*filter, document);
    if (!matches) {
      check_explanation(*filter, document);
      continue;
    }
    if (*matches) (void)filter->matched_position(document);
    if (!*matches) check_explanation(*filter, document);
    if (!comparable) continue;
    const Result<bool> other = evaluate(*negation, document);
    if (limit.reached()) return;
    if (!other || *other == *matches) abort();
    if (!*other) check_explanation(*negation, document);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::vector<bson::View> documents = documents_in({data, size});
  if (documents.empty()) return 0;
  LimitedChecksInterruption limit;
  const query::InterruptionScope scope(limit);
  if (documents.size() > kMatchedMax) documents.resize(kMatchedMax);
  const bson::View specification = documents[0];
  check(specification, documents, limit);
  check(nested("$jsonSchema", specification), documents, limit);
  check(nested("$expr", specification), documents, limit);
  return 0;
}
