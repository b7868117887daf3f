// Overwrites parts of a Binary field. A store that can do this at a cost that depends on the parts,
// and not on the whole document, implements BinaryOverwriter in its Collection.
//
// Thread-safety: that of engine/store.h.
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
// piece that begins and ends at a multiple of this size, or ends at the end of the field, costs the
// least: the store then need not read the rest of the unit.
inline constexpr uint32_t kOverwriteBlockBytes = 4096;

// New bytes of a Binary field from `offset` on.
struct BinaryPiece {
  uint32_t offset = 0;
  std::span<const uint8_t> bytes;
};

struct BinaryOverwrite {
  std::string_view field;      // the name of a field at the top of the document
  uint32_t expected_size = 0;  // the number of bytes that the field must have now
  uint32_t size = 0;           // the number of bytes afterwards; at least expected_size
  // Ascending, without overlaps, within `size`, and none of them empty. New bytes that no piece has
  // become zeros.
  std::span<const BinaryPiece> pieces;
};

class BinaryOverwriter {
 public:
  virtual ~BinaryOverwriter() = default;
  // Overwrites the field in the first document that matches `filter`. The result is the same as
  // that of an update that sets the field to its whole new content with $set. Returns false, and
  // changes nothing, if no document matches, or if the field is not a Binary of subtype 0 with
  // `expected_size` bytes. Fails with BadValue if `change` breaks the rules of BinaryOverwrite,
  // with BSONObjectTooLarge if the document would have more than 16 MiB, and as
  // Collection::update() does.
  virtual Result<bool> overwrite(Transaction& transaction, bson::View filter,
                                 const BinaryOverwrite& change) = 0;
  // Returns the number of bytes of the field in the first document that matches `filter`, without
  // reading all of the field. Returns nothing if no document matches, or if the field is not a
  // Binary of subtype 0. Fails as Collection::find_one() does.
  virtual Result<std::optional<uint32_t>> binary_size(Snapshot& snapshot, bson::View filter,
                                                      std::string_view field) = 0;
};

// Calls BinaryOverwriter::overwrite(). Returns false if the collection does not implement it. The
// caller then has to write the whole field.
inline Result<bool> overwrite_binary(Collection& collection, Transaction& transaction,
                                     bson::View filter, const BinaryOverwrite& change) {
  auto* const overwriter = dynamic_cast<BinaryOverwriter*>(&collection);
  if (overwriter == nullptr) return false;
  return overwriter->overwrite(transaction, filter, change);
}

}  // namespace gridmount::engine
