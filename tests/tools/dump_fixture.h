// Makes a store with an example of everything that a dump must keep, and examines dumps of this
// store.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tests/tools/store_test.h"

namespace gridmount::tests {

// Parses Extended JSON.
bson::Document parsed(std::string_view json);

class DumpTest : public StoreTest {
 protected:
  // Runs gridstore with these arguments in folder().
  Outcome gridstore(std::vector<std::string> arguments, const std::string& input = "") const;
  // Runs the script in a shell. $G is the program.
  Outcome shell(const std::string& script) const;

  // Makes the collection in the database test, with options as Extended JSON.
  void create(const std::string& collection, std::string_view options) const;
  void insert(const std::string& collection, const std::vector<bson::Document>& documents) const;
  void index(const std::string& collection, std::string_view specification) const;
  // Makes a store with values of all types, odd names, options and indexes of all kinds, a GridFS
  // bucket, views and users.
  void create_rich_store() const;

  // Returns the files below a folder by their paths, without prelude.json.
  std::map<std::string, std::string> files_of(const std::string& name) const;
  // Returns the documents of test.<collection> in `store` as Extended JSON.
  std::vector<std::string> documents_of(const std::string& store,
                                        const std::string& collection) const;
};

}  // namespace gridmount::tests
