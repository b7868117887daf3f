#include "gridfs/bucket/upload_order.h"

#include <string_view>
#include <utility>

#include "engine/bson/builder.h"

namespace gridmount::gridfs {
namespace {

constexpr std::string_view kUploadDate = "uploadDate";

bson::Document by_upload_date(int32_t direction) {
  bson::Builder sort;
  sort.append(kUploadDate, direction);
  return std::move(sort).finish();
}

}  // namespace

const bson::Document& newest_first() {
  static const bson::Document kSort = by_upload_date(-1);
  return kSort;
}

const bson::Document& oldest_first() {
  static const bson::Document kSort = by_upload_date(1);
  return kSort;
}

const bson::Document& by_filename_oldest_first() {
  static const bson::Document kSort = [] {
    bson::Builder sort;
    sort.append("filename", int32_t{1}).append(kUploadDate, int32_t{1});
    return std::move(sort).finish();
  }();
  return kSort;
}

}  // namespace gridmount::gridfs
