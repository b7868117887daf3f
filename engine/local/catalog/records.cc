#include "engine/local/catalog/records.h"

#include <span>

namespace gridmount::local {

Result<std::optional<std::string_view>> get_record(const Trees& trees, const Keyspace& records,
                                                   RecordId id) {
  return trees.get(trees.tree(records), RecordKey(records, id).view());
}

Status put_record(Trees& trees, const Keyspace& records, RecordId id, bson::View document,
                  bool at_end, bool patchable) {
  const RecordKey key(records, id);
  const size_t size = kRecordHeaderBytes + document.size();
  GM_ASSIGN(uint8_t* const value, at_end
                                      ? trees.reserve_at_end(trees.tree(records), key.view(), size)
                                      : trees.reserve(trees.tree(records), key.view(), size));
  const uint8_t kind = patchable               ? kPatchableRecord
                       : trees.has_checksums() ? kKeyedRecord
                                               : kPlainRecord;
  write_record(std::span(value, size), key, document, kind);
  return {};
}

}  // namespace gridmount::local
