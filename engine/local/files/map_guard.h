// Keeps the process alive where mapped bytes of LMDB's files cannot be read: the file has been cut
// off under it, a damaged page points beyond its end, or the device fails. The kernel says so by
// SIGBUS.
//
// The page of data.mdb that cannot be read becomes a page of zeros in this process alone. No
// record's checksum fits that, and LMDB takes it for no page of its own, so whoever reads it gets
// an error. The guard remembers, and nothing may be written from then on: what was read may be
// zeros.
//
// LMDB's table of readers, data.mdb-lock, is written by whoever begins to read, and its mutexes are
// in it. It becomes zeros as a whole, which can be written to: unlocked mutexes and no readers. So
// nobody hangs, but nothing keeps a page any more that is being read: a call of LMDB that is on its
// way (fault_scope.h) is ended, and nothing may be read or written from then on.
//
// Thread-safety: thread-safe. The handler of SIGBUS is the process's own and is installed with the
// first guard (fault_scope.h); faults elsewhere go to the handler that was there before.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>

namespace gridmount::local {

class MapGuard {
 public:
  // How many there can be in a process at a time; more guard nothing.
  static constexpr size_t kGuardsMax = 128;

  enum class Contents { kPages, kReaders };
  // Of the file's mapping, which must be there. Nothing is guarded where it cannot be found. The
  // file is not opened: closing it would give up the locks that LMDB has on it.
  MapGuard(const std::filesystem::path& file, Contents contents);
  ~MapGuard();
  MapGuard(const MapGuard&) = delete;
  MapGuard& operator=(const MapGuard&) = delete;

  // Where the file is mapped; null if nothing is guarded.
  const uint8_t* map() const;
  // Where the file could not be read first, in bytes from its beginning.
  std::optional<uint64_t> unreadable() const;

  // For the handler of SIGBUS: what has the address, if it is in a guarded map and can be read now.
  // What is behind the newest snapshot's pages stays as it is unless that is asked for.
  static std::optional<Contents> put_zeros_at(void* where, bool behind_end);

 private:
  std::optional<size_t> slot_;
};

}  // namespace gridmount::local
