// LMDB's two meta pages, read without LMDB: the root of everything in data.mdb, checked before LMDB
// maps the file, and saved and put back by checkpoints. FORMAT.md, chapter "data.mdb".
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "engine/base/error.h"
#include "engine/system/file.h"

namespace gridmount::local {

// What LMDB keeps at the beginning of a meta page: its page header and MDB_meta. The rest of the
// page has no meaning.
inline constexpr size_t kMetaBytes = 152;
using MetaBytes = std::array<uint8_t, kMetaBytes>;

struct MetaPage {
  uint32_t page_bytes = 0;
  uint64_t last_page = 0;
  uint64_t txn = 0;

  // The file must have at least this size, unless the pages at its end are free and were never
  // written (invariant D7).
  uint64_t data_bytes() const { return (last_page + 1) * page_bytes; }
};

// Decodes one, or says in what it contradicts the format.
Result<MetaPage> parse_meta_page(std::span<const uint8_t> bytes);

// Both, and which of them is the current one.
struct MetaPair {
  std::array<MetaBytes, 2> bytes{};
  MetaPage current;
  uint64_t previous_txn = 0;  // of the other
};

// StoreDamaged unless both are valid and agree, and the current one is where its number says.
Result<MetaPair> parse_meta_pair(const std::array<MetaBytes, 2>& bytes);
// Reads them from the file; the page size is the first one's. While a writer may be committing, the
// result may be half old and half new.
Result<MetaPair> read_meta_pair(const system::File& data);
Status write_meta_pair(const system::File& data, const MetaPair& pair);

// After LMDB could not write a meta page: it puts the old transaction's number and last page back
// into it, and leaves the new one's trees there (mdb.c, mdb_env_write_meta). If that is what the
// older of the two pages looks like, it becomes the current one with a number before it: what is
// then read from it is as good. Anything else stays as it is.
Status mend_unwritten_meta(const system::File& data, uint32_t page_bytes);

}  // namespace gridmount::local
