#include "apps/photo/plain.h"

#include "apps/photo/plain_float.h"

namespace photo {

std::unique_ptr<PlainFloat> plain_float(Size size) {
  class Compiled : public PlainFloat {
   public:
    explicit Compiled(Size s) : plain_(s) {}
    void raw(const Coefficients& k, const std::uint16_t* in, std::uint16_t* out) override { plain_.raw(k, in, out); }
    void picture(const Coefficients& k, const std::uint16_t* in, std::uint16_t* out) override { plain_.picture(k, in, out); }

   private:
    Plain<float> plain_;
  };
  return std::make_unique<Compiled>(size);
}

}  // namespace photo
