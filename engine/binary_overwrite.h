// Overwrites parts of a Binary field. A store implements BinaryOverwriter in its Collection if the
// cost of an overwrite depends only on the parts, and not on the size of the document.
//
// Thread-safety: as in engine/store.h.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "engine/base/error.h"
#include "engine/bson/document.h"
#include "engine/store.h"

namespace gridmount::engine {

// The unit in which a store keeps overwritten bytes, counted from the beginning of the field. A
// piece costs the least if it begins at a multiple of this size, and ends at a multiple of it or at
// the end of the field: the store then need not read other bytes of the unit.
inline constexpr uint32_t kOverwriteBlockBytes = 4096;

// New bytes of a Binary field from `offset` on.
struct BinaryPiece {
  uint32_t offset = 0;
  std::span<const uint8_t> bytes;
};

struct BinaryOverwrite {
  std::string_view field;      // the name of a field at the top of the document
  uint32_t expected_size = 0;  // the number of bytes that the field must have now
  uint32_t size = 0;           // the number of bytes afterwards; must be at least expected_size
  // The pieces must ascend, must not overlap, must be within `size`, and must not be empty. Bytes
  // beyond `expected_size` that no piece has become zeros.
  std::span<const BinaryPiece> pieces;
};

class BinaryOverwriter {
 public:
  virtual ~BinaryOverwriter() = default;
  // Overwrites the field in the first document that matches `filter`. The document is afterwards
  // the same as after an update that sets the field to its whole new content with $set. Returns
  // false, and changes nothing, if no document matches, or if the field is not a Binary of subtype
  // 0 with `expected_size` bytes. Fails with BadValue if `change` breaks the rules of
  // BinaryOverwrite, with BSONObjectTooLarge if the document would have more than 16 MiB, and as
  // Collection::update() does.
  virtual Result<bool> overwrite(Transaction& transaction, bson::View filter,
                                 const BinaryOverwrite& change) = 0;
  // Returns the number of bytes of the field in the first document that matches `filter`. Need not
  // read all of the field if `filter` is {_id: x}, or has exactly one value for each field of a
  // unique index. Returns nothing if no document matches, or if the field is not a Binary of
  // subtype 0. Fails as Collection::find_one() does.
  virtual Result<std::optional<uint32_t>> binary_size(Snapshot& snapshot, bson::View filter,
                                                      std::string_view field) = 0;
};

// Calls BinaryOverwriter::overwrite(). Also returns false if the collection does not implement
// BinaryOverwriter: the caller must then write the whole field.
inline Result<bool> overwrite_binary(Collection& collection, Transaction& transaction,
                                     bson::View filter, const BinaryOverwrite& change) {
  auto* const overwriter = dynamic_cast<BinaryOverwriter*>(&collection);
  if (overwriter == nullptr) return false;
  return overwriter->overwrite(transaction, filter, change);
}

}  // namespace gridmount::engine
