// Fuzzes bytes from outside: what validate() accepts must be safe to walk, compare, print and read
// back.

#include <cstdlib>

#include "engine/bson/compare.h"
#include "engine/bson/json.h"

using namespace gridmount;

namespace {

void walk(bson::View document) {
  for (const bson::Element element : document) {
    (void)element.value.number();
    (void)element.value.integral();
    switch (element.value.type()) {
      case bson::Type::kDocument:
      case bson::Type::kArray:
        walk(element.value.as_document());
        break;
      case bson::Type::kRegex:
        if (element.value.as_regex().options.size() > element.value.size()) abort();
        break;
      default:
        break;
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const Result<bson::View> document = bson::validate({data, size});
  if (!document) return 0;
  walk(*document);
  if (bson::compare(*document, *document) != 0) abort();
  const std::string json = bson::to_json(*document, bson::JsonForm::kCanonical);
  if (const Result<bson::Document> again = bson::document_from_json(json)) walk(*again);
  return 0;
}
