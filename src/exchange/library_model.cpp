#include "tenex/exchange/library_model.hpp"

#include <array>

namespace tenex {

Bytes LibraryProtocol::carried(Bytes size) const {
  __extension__ using Wide = __int128;
  const Wide total = (static_cast<Wide>(size.count()) * line + data - 1) / data;
  const auto limit = static_cast<Wide>(Bytes::max().count());
  return bytes(static_cast<std::int64_t>(total < limit ? total : limit));
}

std::span<const LibraryProtocol> library_protocols() {
  static constexpr std::array kProtocols{
      LibraryProtocol{"ll", 4, 8, nanoseconds(6'600), nanoseconds(6'800)},
      LibraryProtocol{"ll128", 120, 128, nanoseconds(14'000), nanoseconds(14'000)},
      LibraryProtocol{"simple", 1, 1, nanoseconds(8'400), nanoseconds(8'400)},
  };
  return kProtocols;
}

}  // namespace tenex
