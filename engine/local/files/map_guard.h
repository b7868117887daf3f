// Keeps the process from being killed when mapped bytes of LMDB's files cannot be read. The bytes
// cannot be read if another program truncates the file, if a damaged page points beyond the file's
// end, or if the device fails. The kernel then sends SIGBUS. In a measurement without the guard,
// one of 1,000 flipped bits ended the process.
//
// The guard replaces a page of data.mdb that cannot be read by a page of zeros, in this process
// only. Zeros match no record's checksum, and LMDB does not accept them as a page, so the reader
// gets an error. The guard remembers the fault. From then on nothing may be written to the store,
// because the new data may depend on the zeros.
//
// LMDB's table of readers, data.mdb-lock, has LMDB's mutexes, and every reader writes to it. The
// guard replaces the whole table by writable zeros, which mean unlocked mutexes and no readers. So
// no thread waits for ever for a mutex, but LMDB no longer knows which pages are being read. The
// call of LMDB in which the fault happened is ended (fault_scope.h), and from then on nothing may
// be read or written.
//
// Thread-safe. The first guard installs the process's handler of SIGBUS (fault_scope.h). Faults
// outside of the guarded mappings go to the handler that was installed before.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>

namespace gridmount::local {

class MapGuard {
 public:
  // How many guards a process can have at one time. Further guards do nothing.
  static constexpr size_t kGuardsMax = 128;

  enum class Contents { kPages, kReaders };
  // Guards the mapping of the file, which LMDB must have made already. Guards nothing if the
  // mapping cannot be found. Does not open the file: closing it would release the locks that LMDB
  // has on it.
  MapGuard(const std::filesystem::path& file, Contents contents);
  ~MapGuard();
  MapGuard(const MapGuard&) = delete;
  MapGuard& operator=(const MapGuard&) = delete;

  // Returns the address of the mapping, or null if this object guards nothing.
  const uint8_t* map() const;
  // Returns the file offset in bytes of the page at which the first fault happened, or nothing if
  // no fault has happened.
  std::optional<uint64_t> unreadable() const;

  // The handler of SIGBUS calls this. If the address is in a guarded mapping, replaces the page, or
  // the whole table of readers, by zeros, and returns the kind of the mapping. Otherwise returns
  // nothing. Replaces a page after the last page of the newest snapshot only if `behind_end` is
  // set.
  static std::optional<Contents> map_zeros_at(void* where, bool behind_end);

 private:
  std::optional<size_t> slot_;
};

}  // namespace gridmount::local
