// filemd5: the MD5 digest of a GridFS file, computed from its stored chunks.
// Source: MongoDB manual (until 5.0), "filemd5".

#include <openssl/evp.h>

#include <array>
#include <memory>
#include <span>
#include <string>

#include "engine/base/hex.h"
#include "engine/wire/call.h"
#include "engine/wire/commands/command_groups.h"

namespace gridmount::wire {
namespace {

constexpr ErrorCode kChunkMissing{16493};

struct DigestEnd {
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};

class Digest {
 public:
  Digest() : context_(EVP_MD_CTX_new()) {}
  bool begin() { return context_ && EVP_DigestInit_ex(context_.get(), EVP_md5(), nullptr) == 1; }
  bool add(const bson::Binary& data) {
    return EVP_DigestUpdate(context_.get(), data.data, data.size) == 1;
  }
  std::string hex() {
    std::array<unsigned char, EVP_MAX_MD_SIZE> bytes{};
    unsigned size = 0;
    if (EVP_DigestFinal_ex(context_.get(), bytes.data(), &size) != 1) return {};
    return to_hex(std::span<const uint8_t>(bytes.data(), size));
  }

 private:
  std::unique_ptr<EVP_MD_CTX, DigestEnd> context_;
};

engine::Namespace chunks_of(std::string_view root, std::string_view database) {
  return {std::string(database), std::string(root) + ".chunks"};
}

Status run_file_md5(Call& call, bson::Builder& reply) {
  Arguments& arguments = call.arguments();
  GM_ASSIGN(const bson::ValueView id, arguments.required("filemd5"));
  GM_ASSIGN(const std::optional<std::string_view> root, arguments.string("root"));
  GM_ASSIGN(const bool partial, arguments.boolean("partialOk"));
  const bool goes_on = arguments.any("md5state").has_value();
  arguments.ignore("startAt");
  GM_TRY(arguments.finish());
  if (partial || goes_on) {
    return fail(ErrorCode::kCommandNotSupported, "filemd5: parts of a digest are not supported");
  }
  GM_ASSIGN(const std::string database, arguments.database());
  const engine::Namespace ns = chunks_of(root.value_or("fs"), database);
  GM_TRY(engine::check_namespace(ns));
  call.set_ns(ns);

  bson::Builder filter;
  filter.append("files_id", id);
  const bson::Document conditions = std::move(filter).finish();
  bson::Builder order;
  order.append("files_id", int32_t{1}).append("n", int32_t{1});
  const bson::Document sort = std::move(order).finish();
  engine::FindOptions options;
  options.sort = sort;
  options.deadline = call.deadline();
  GM_ASSIGN(const std::unique_ptr<engine::Snapshot> snapshot, call.snapshot());
  GM_ASSIGN(const std::unique_ptr<engine::Cursor> cursor,
            call.store()
                .database(ns.database)
                ->collection(ns.collection)
                ->find(*snapshot, conditions, options));
  Digest digest;
  if (!digest.begin()) return fail(ErrorCode::kInternalError, "filemd5: MD5 is not available");
  int64_t chunks = 0;
  while (true) {
    GM_ASSIGN(const std::optional<bson::View> chunk, cursor->next());
    if (!chunk) break;
    const std::optional<bson::ValueView> number = chunk->find("n");
    const std::optional<bson::ValueView> data = chunk->find("data");
    if (!number || number->integral() != chunks || !data || data->type() != bson::Type::kBinary) {
      return fail(kChunkMissing, "should have chunk: " + std::to_string(chunks) + " have: " +
                                     std::to_string(number ? number->integral().value_or(-1) : -1));
    }
    if (!digest.add(data->as_binary())) {
      return fail(ErrorCode::kInternalError, "filemd5: the digest failed");
    }
    ++chunks;
  }
  reply.append("numChunks", static_cast<int32_t>(chunks)).append("md5", digest.hex());
  return {};
}

std::vector<Privilege> file_md5_privileges(const Request& request) {
  const std::optional<bson::ValueView> root = request.body.find("root");
  const engine::Namespace ns = chunks_of(
      root && root->type() == bson::Type::kString ? root->as_string() : std::string_view("fs"),
      request.database);
  return {{Privilege::Resource::kCollection, "find", ns.database, ns.collection}};
}

}  // namespace

Commands file_md5_commands() {
  Command command{.name = "filemd5", .run = run_file_md5};
  command.privileges = file_md5_privileges;
  command.about = "returns the MD5 digest of a GridFS file";
  return {command};
}

}  // namespace gridmount::wire
