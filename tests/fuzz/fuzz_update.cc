// Fuzzes updates. The input is a sequence of documents: an update, which is also used as a
// pipeline, a filter, which is also used as an array filter, and the documents that are updated,
// these two included. The result must be valid, keep its _id, and differ only where the update may
// change it. The document of an upsert must have an _id.

#include <algorithm>
#include <cstdlib>
#include <set>
#include <string>
#include <string_view>

#include "engine/bson/builder.h"
#include "engine/bson/compare.h"
#include "engine/query/filter/filter.h"
#include "engine/query/update/update.h"
#include "tests/fuzz/documents_in.h"
#include "tests/fuzz/limited_checks_interruption.h"

using namespace gridmount;

namespace {

void check_valid(bson::View document) {
  if (!bson::validate(document.bytes(), UINT32_MAX)) abort();
}

bool is_same(bson::View a, bson::View b) {
  return std::ranges::equal(a.bytes(), b.bytes());
}

bool is_same(std::optional<bson::ValueView> a, std::optional<bson::ValueView> b) {
  return a.has_value() == b.has_value() && (!a || bson::Value(*a) == bson::Value(*b));
}

// Returns the names of the fields that the update may change.
std::set<std::string, std::less<>> touched(const query::Update& update) {
  std::set<std::string, std::less<>> names;
  for (const std::string& path : update.touched_paths()) {
    names.insert(path.substr(0, path.find('.')));
  }
  return names;
}

void check_applied(const query::Update& update, bson::View before,
                   const query::Update::Applied& applied) {
  const bson::View after = applied.document;
  check_valid(after);
  if (!applied.modified && !is_same(before, after)) abort();
  if (const auto id = before.find("_id")) {
    const auto kept = after.find("_id");
    if (!kept || bson::compare(*id, *kept) != 0) abort();
  }
  const auto names = touched(update);
  if (names.empty()) return;
  for (const bson::View document : {before, after}) {
    for (const bson::Element element : document) {
      if (names.contains(element.key)) continue;
      if (!is_same(before.find(element.key), after.find(element.key))) abort();
    }
  }
}

void check(const query::Update& update, const Result<query::Filter>& filter,
           const std::vector<bson::View>& documents) {
  for (const bson::View document : documents) {
    std::optional<size_t> position;
    if (filter && filter->matches(document)) position = filter->matched_position(document);
    const Result<query::Update::Applied> applied = update.apply(document, position);
    if (applied) check_applied(update, document, *applied);
  }
  if (!filter) return;
  if (const Result<bson::Document> made = update.upserted(*filter)) {
    check_valid(*made);
    if (made->view().empty() || (*made->view().begin()).key != "_id") abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::vector<bson::View> documents = documents_in({data, size});
  if (documents.empty()) return 0;
  LimitedChecksInterruption limit;
  const query::InterruptionScope scope(limit);
  const bson::View specification = documents[0];
  const bson::View second = documents[std::min<size_t>(1, documents.size() - 1)];
  const Result<query::Filter> filter = query::Filter::parse(second);

  bson::Builder array_filters;
  array_filters.append("0", second);
  const bson::Document made = std::move(array_filters).finish();
  query::UpdateParseOptions options;
  for (const bson::View filters : {bson::View(), made.view(), second}) {
    options.array_filters = filters;
    if (const auto update = query::Update::parse(specification, options)) {
      check(*update, filter, documents);
    }
  }
  options.array_filters = {};
  options.is_pipeline = true;
  if (const auto update = query::Update::parse(specification, options)) {
    check(*update, filter, documents);
  }
  return 0;
}
