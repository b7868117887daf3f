// LMDB's two meta pages, read and written without LMDB. They refer to the roots of all trees in
// data.mdb. An opening checks the meta pages before LMDB maps the file, a checkpoint saves them,
// and recovery restores them. Source: FORMAT.md, chapter "data.mdb".
//
// Thread-safety: functions without state, and plain values.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "engine/base/error.h"
#include "engine/system/file.h"

namespace gridmount::local {

// The size of the page header and MDB_meta at the beginning of a meta page. The rest of the page
// has no meaning.
inline constexpr size_t kMetaBytes = 152;
using MetaBytes = std::array<uint8_t, kMetaBytes>;

struct MetaPage {
  uint32_t page_bytes = 0;
  uint64_t last_page = 0;  // the number of the last page that the trees of this meta page may use
  uint64_t txn = 0;        // the number of the transaction that wrote this meta page

  // The bytes from the beginning of data.mdb to the end of the last page. data.mdb may be shorter,
  // but only if the missing pages are free and were never written (invariant D7 of FORMAT.md).
  uint64_t data_bytes() const { return (last_page + 1) * page_bytes; }
};

// Decodes a meta page. Fails with StoreDamaged if the meta page contradicts the format. The message
// says how.
Result<MetaPage> parse_meta_page(std::span<const uint8_t> bytes);

// Both meta pages, and the decoded contents of the current one.
struct MetaPair {
  std::array<MetaBytes, 2> bytes{};
  MetaPage current;
  uint64_t previous_txn = 0;  // the number of the transaction that wrote the other meta page
};

// Decodes both meta pages. The current meta page has the higher transaction number. Fails with
// StoreDamaged unless both meta pages are valid, have their own page numbers and the same page
// size, and the current one, of transaction n, is page n % 2.
Result<MetaPair> parse_meta_pair(const std::array<MetaBytes, 2>& bytes);
// Reads and decodes both meta pages of the file. The first meta page gives the page size. If a
// writer may be committing, the result may be half old and half new. Fails as parse_meta_pair()
// does.
Result<MetaPair> read_meta_pair(const system::File& data);
// Writes both meta pages. Does not sync.
Status write_meta_pair(const system::File& data, const MetaPair& pair);

// Repairs the older meta page after LMDB failed to write it. When such a write fails, LMDB puts the
// old transaction number and the old last page back, but the page still has the roots of the new
// trees (mdb.c, mdb_env_write_meta). If the older meta page is invalid, and the current meta page
// is valid and in its place (page n % 2 for transaction n), this function overwrites the older meta
// page with a copy of the current meta page. The copy has the page number of the older meta page,
// and a transaction number that is lower by one. Otherwise the function changes nothing. Does not
// sync.
Status repair_half_written_meta(const system::File& data, uint32_t page_bytes);

}  // namespace gridmount::local
