#include "engine/profiling/operation.h"

#include <utility>

#include "engine/bson/builder.h"
#include "engine/bson/text.h"
#include "engine/query/filter/canonical_form.h"

namespace gridmount::profiling {
namespace {

// The size of the largest command that an entry has in full.
constexpr uint32_t kCommandBytesMax = 50'000;

}  // namespace

bson::Document entry_of(const Operation& operation) {
  bson::Builder entry;
  entry.append("op", operation.op).append("ns", operation.ns.full());
  if (operation.command.view().size() <= kCommandBytesMax) {
    entry.append("command", operation.command);
  } else {
    entry.open_document("command");
    entry.append("$truncated", (*operation.command.view().begin()).key).close();
  }
  entry.append_all(operation.counts);
  if (operation.error_code != 0) {
    entry.append("ok", 0.0).append("errCode", operation.error_code);
    entry.append("errMsg", bson::valid_text(operation.error));
  }
  entry.append("millis", static_cast<int64_t>(operation.duration.count() / 1000));
  entry.append("micros", static_cast<int64_t>(operation.duration.count()));
  entry.append("ts", bson::Date::now());
  return std::move(entry).finish();
}

Result<OperationFilter> OperationFilter::parse(bson::View specification) {
  GM_ASSIGN(query::Filter filter, query::Filter::parse(specification));
  OperationFilter parsed(std::move(filter));
  parsed.shown_ = query::canonical_form(specification);
  return parsed;
}

bool OperationFilter::matches(const Operation& operation) const {
  const bson::Document entry = entry_of(operation);
  return filter_.matches(entry);
}

}  // namespace gridmount::profiling
