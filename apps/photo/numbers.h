#pragma once
// The sizes that the generators and the plain loops share.

namespace photo {

inline constexpr int window = 3;  // the denoiser averages over 2 window + 1 rows and columns
inline constexpr int taps = 3;    // the sharpener's blur has 2 taps + 1 of them, down and across

inline constexpr float luma[3] = {0.2126f, 0.7152f, 0.0722f};  // of linear sRGB (BT.709)

}  // namespace photo
