#include "fuse/tree/unlinked_node.h"

#include <utility>

#include "gridfs/bucket/file_time.h"
#include "gridfs/bucket/posix_changes.h"

namespace gridmount::fuse {

UnlinkedNode::UnlinkedNode(gridfs::Attributes last, gridfs::PosixFields fields)
    : attributes(last), posix(std::move(fields)) {
  attributes.nlink = 0;
}

gridfs::PosixFields UnlinkedNode::fields() const {
  gridfs::PosixFields fields = posix;
  fields.mode = attributes.mode;
  fields.uid = attributes.uid;
  fields.gid = attributes.gid;
  return fields;
}

UnlinkedNode UnlinkedNode::with_changes(const gridfs::PosixFields& changes) const {
  UnlinkedNode node = *this;
  gridfs::merge_posix_fields(node.posix, changes);
  const auto take = [](auto& field, const auto& change) {
    if (change) field = *change;
  };
  take(node.attributes.mode, changes.mode);
  take(node.attributes.uid, changes.uid);
  take(node.attributes.gid, changes.gid);
  take(node.attributes.atime, changes.atime);
  take(node.attributes.mtime, changes.mtime);
  take(node.attributes.ctime, changes.ctime);
  return node;
}

UnlinkedNode UnlinkedNode::with_changes(const gridfs::AttributeChanges& changes) const {
  gridfs::PosixFields fields;
  fields.uid = changes.uid;
  fields.gid = changes.gid;
  fields.atime = changes.atime;
  fields.mtime = changes.mtime;
  fields.ctime = changes.ctime.value_or(gridfs::file_time_now());
  if (changes.permissions) {
    gridfs::add_permissions(this->fields(), *changes.permissions, fields);
  } else if (changes.clears_set_id) {
    fields.mode =
        gridfs::without_set_id(attributes.mode, attributes.gid, changes.may_keep_group_id);
  }
  return with_changes(fields);
}

}  // namespace gridmount::fuse
