// Fuzzes queries. The input is a sequence of documents: a specification, and the documents to which
// it is applied as filter, sort and projection. Each result must be valid. The last document is an
// index, for which a plan is made.

#include <cstdlib>
#include <vector>

#include "engine/query/filter/filter.h"
#include "engine/query/plan/planner.h"
#include "engine/query/projection/projection.h"
#include "engine/query/sort.h"
#include "tests/fuzz/documents_in.h"
#include "tests/fuzz/limited_checks_interruption.h"

using namespace gridmount;

namespace {

void check_valid(bson::View document) {
  if (!bson::validate(document.bytes(), UINT32_MAX)) abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::vector<bson::View> documents = documents_in({data, size});
  if (documents.empty()) return 0;
  LimitedChecksInterruption limit;
  const query::InterruptionScope scope(limit);
  const bson::View specification = documents[0];
  const Result<query::Filter> filter = query::Filter::parse(specification);
  // The filter, if there is such a document.
  const bson::View second = documents[documents.size() > 1 ? 1 : 0];
  const Result<query::Filter> found_by = query::Filter::parse(second);
  const Result<query::Sort> sort = query::Sort::parse(specification);
  Result<query::Projection> projection = query::Projection::parse(specification, {second, {}, {}});
  if (filter) {
    query::IndexDefinition index;
    index.keys = bson::Document(documents.back());
    for (const bool multikey : {false, true}) {
      (void)query::make_plan(*filter, sort ? &*sort : nullptr, {index}, {multikey}, std::nullopt);
    }
  }
  for (const bson::View document : documents) {
    if (filter) (void)filter->matches(document);
    const bool found = found_by && found_by->matches(document);
    if (found) (void)found_by->matched_position(document);
    if (projection && (found || !projection->needs_match())) {
      if (const Result<bson::View> made = projection->apply(document)) check_valid(*made);
    }
    const auto key = sort ? sort->key_of(document) : std::vector<bson::Value>();
    if (sort && key && sort->compare_keys(*key, *key) != 0) abort();
  }
  return 0;
}
