// The requests to the server. Each row is a kind of request, which is built anew for each
// operation.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "tests/bench/wire/connection.h"

namespace gridmount::bench {

struct WireRow {
  std::string key;
  std::string label;
  uint64_t operations = 0;  // of all slices and clients together
  uint64_t documents_per_operation = 1;
  double ceiling = 0;  // greatest accepted ratio to the echo's time with one client; 0: none
  // Returns the request for an operation by its number, which is unique in the whole run.
  std::function<Bytes(uint64_t number)> request = {};
};

struct WireSizes {
  uint64_t documents = 0;   // in the collection that is read and updated
  uint64_t operations = 0;  // in a row whose operations concern one document
};

// Returns the requests that fill the collection. They must be sent once, before the rows.
std::vector<Bytes> fill_requests(const WireSizes& sizes);
std::vector<WireRow> make_wire_rows(const WireSizes& sizes);

// `message` must be an OP_MSG. Throws std::runtime_error unless it has ok: 1 and no write errors,
// and `documents` documents were found, inserted or matched.
void check_reply(std::span<const uint8_t> message, uint64_t documents);

}  // namespace gridmount::bench
