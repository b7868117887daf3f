#include "tests/clients/libmongoc/mongoc_fixture.h"

#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace gridmount::clients {

namespace {

// Initializes the library in main(), and cleans it up after the last test.
class Library : public ::testing::Environment {
 public:
  void SetUp() override { mongoc_init(); }
  void TearDown() override { mongoc_cleanup(); }
};
const auto* const kLibrary = ::testing::AddGlobalTestEnvironment(new Library);

}  // namespace

std::string escaped(std::string_view text) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      out += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      out += '%';
      out += kHex[byte >> 4U];
      out += kHex[byte & 15U];
    }
  }
  return out;
}

std::string environment(const char* name) {
  const char* const value = std::getenv(name);
  EXPECT_NE(value, nullptr) << name;
  return value != nullptr ? value : "";
}

std::string certificate(const std::string& name) {
  return environment("CLIENT_CERTIFICATES") + "/" + name;
}

std::string in_mount(const std::string& name) {
  return environment("CLIENT_ROOT") + "/" + name;
}

Document document(std::string_view json) {
  bson_error_t error;
  bson_t* const made = bson_new_from_json(reinterpret_cast<const uint8_t*>(json.data()),
                                          static_cast<ssize_t>(json.size()), &error);
  EXPECT_NE(made, nullptr) << json << ": " << error.message;
  return made != nullptr ? Document(made) : Document();
}

std::string json(const bson_t& document) {
  char* const text = bson_as_relaxed_extended_json(&document, nullptr);
  std::string copy = text != nullptr ? text : "";
  bson_free(text);
  return copy;
}

std::string json_of(const bson_t& document, const char* path) {
  bson_iter_t iterator;
  bson_iter_t found;
  if (!bson_iter_init(&iterator, &document) ||
      !bson_iter_find_descendant(&iterator, path, &found)) {
    return "";
  }
  bson_t holder = BSON_INITIALIZER;
  bson_append_value(&holder, "", 0, bson_iter_value(&found));
  const std::string text = json(holder);
  bson_destroy(&holder);
  // Removes the holder's `{ "" : ` and ` }`.
  constexpr size_t kBefore = 7;
  constexpr size_t kAround = 9;
  return text.substr(kBefore, text.size() - kAround);
}

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in) << path;
  return {std::istreambuf_iterator<char>(in), {}};
}

void write_file(const std::string& path, std::string_view content) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream out(path, std::ios::binary);
  out.write(content.data(), static_cast<std::streamsize>(content.size()));
  out.close();
  EXPECT_TRUE(out) << path;
}

std::string content(unsigned seed, size_t size) {
  std::string bytes(size, '\0');
  for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(seed + i * 7 + i / 253);
  return bytes;
}

void MongocTest::SetUp() {
  client_ = connect(escaped(environment("CLIENT_SOCKET")));
  run(R"({"dropDatabase": 1})");
}

Client MongocTest::connect(const std::string& address) {
  const std::string text = "mongodb://" + address;
  const std::unique_ptr<mongoc_uri_t, Destroy> uri(
      mongoc_uri_new_with_error(text.c_str(), &error_));
  EXPECT_TRUE(uri) << text << ": " << error_.message;
  Client client(mongoc_client_new_from_uri(uri.get()));
  EXPECT_TRUE(client) << text;
  mongoc_client_set_error_api(client.get(), MONGOC_ERROR_API_VERSION_2);
  return client;
}

Collection MongocTest::collection(const char* name, const char* database) {
  return Collection(mongoc_client_get_collection(client_.get(), database, name));
}

Document MongocTest::run(std::string_view command, const char* database) {
  Document reply;
  error_ = {};
  mongoc_client_command_simple(client_.get(), database, document(command).get(), nullptr,
                               reply.get(), &error_);
  return reply;
}

std::vector<std::string> MongocTest::find(mongoc_collection_t* in, std::string_view filter,
                                          std::string_view options) {
  return all_of(Cursor(mongoc_collection_find_with_opts(in, document(filter).get(),
                                                        document(options).get(), nullptr)));
}

std::vector<std::string> MongocTest::all_of(Cursor cursor) {
  std::vector<std::string> found;
  const bson_t* each = nullptr;
  while (mongoc_cursor_next(cursor.get(), &each)) found.push_back(json(*each));
  error_ = {};
  if (mongoc_cursor_error(cursor.get(), &error_)) found.emplace_back(error_.message);
  return found;
}

int64_t MongocTest::count(mongoc_collection_t* in, std::string_view filter) {
  return mongoc_collection_count_documents(in, document(filter).get(), nullptr, nullptr, nullptr,
                                           &error_);
}

}  // namespace gridmount::clients
