// Fuzzes the bytes of a connection: a message, whatever length its header claims. What is parsed
// must be safe to walk, and the reply must be a message that can be parsed.

#include <cstdlib>
#include <cstring>

#include "engine/wire/protocol/header.h"
#include "engine/wire/protocol/incoming_message.h"
#include "engine/wire/protocol/reply.h"

using namespace gridmount;
using namespace gridmount::wire;

namespace {

void walk(bson::View document) {
  if (!bson::validate(document.bytes())) abort();
}

// Reads the reply as the client would.
void check(const Reply& reply) {
  std::vector<uint8_t> bytes;
  for (const auto piece : reply.pieces()) bytes.insert(bytes.end(), piece.begin(), piece.end());
  if (bytes.size() != reply.size() || bytes.size() < kHeaderBytes) abort();
  const Result<Header> header = read_header(std::span(bytes).first<kHeaderBytes>());
  if (!header || header->length != bytes.size()) abort();
  if (header->opcode == Opcode::kCompressed && !decompress(bytes)) abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < kHeaderBytes) return 0;
  std::vector<uint8_t> message(data, data + size);
  const auto length = static_cast<uint32_t>(size);
  std::memcpy(message.data(), &length, sizeof length);
  MessageBytes decompressed;
  const Result<IncomingMessage> incoming = read_incoming(message, decompressed);
  if (!incoming) return 0;
  if (const auto* const request = std::get_if<Request>(&incoming->content)) {
    walk(request->body);
    (void)request->name();
    for (const Sequence& sequence : request->sequences) {
      for (const bson::View document : sequence.documents) walk(document);
    }
    check(Reply(incoming->form, bson::Document(request->body), 1));
  } else {
    const auto& reply = std::get<bson::Document>(incoming->content);
    walk(reply);
    check(Reply(incoming->form, reply, 1));
  }
  return 0;
}
