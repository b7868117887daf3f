// The requests to the server: each row is a kind of request, built anew for each operation.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "connection.h"

namespace gridmount::bench {

struct WireRow {
  std::string key;
  std::string label;
  uint64_t operations = 0;  // of all slices and clients
  uint64_t documents_per_operation = 1;
  double ceiling = 0;  // greatest accepted time by the echo's, at one client; 0: none
  // The request of an operation by its number, which is its own in the whole run.
  std::function<Bytes(uint64_t number)> request = {};
};

struct WireSizes {
  uint64_t documents = 0;   // in the collection that is read and updated
  uint64_t operations = 0;  // of a row of single documents
};

// Requests that fill the collection, to be sent once and before the rows.
std::vector<Bytes> fill_requests(const WireSizes& sizes);
std::vector<WireRow> make_wire_rows(const WireSizes& sizes);

// Throws std::runtime_error unless it is an OP_MSG with ok: 1 and no write errors, and with as many
// documents found, inserted or matched as asked for.
void check_reply(std::span<const uint8_t> message, uint64_t documents);

}  // namespace gridmount::bench
