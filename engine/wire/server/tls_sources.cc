// The part of Asio's own code that is about TLS; see asio_sources.cc.
#include <asio/ssl/impl/src.hpp>
