#include "engine/base/thread_name.h"

#include <pthread.h>
#include <unistd.h>

#include <string>

namespace gridmount {

void name_this_thread(std::string_view name) {
  if (::gettid() == ::getpid()) return;
  // On failure the thread keeps the name of the thread that started it.
  (void)::pthread_setname_np(::pthread_self(),
                             std::string(name.substr(0, kThreadNameBytesMax)).c_str());
}

}  // namespace gridmount
