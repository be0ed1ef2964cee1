// sparse/sirt.cpp: one step of SIRT, a reconstruction from rays: project the image, weigh what is missing in each ray, project
// it back. The matrix is a list of entries in no order.
#include "bench/programs/program.h"

PROGRAM(p) {
  const Symbol rays = p.size("rays", 3100, {.min = 1}), pixels = p.size("pixels", 2704, {.min = 1}), Z = p.size("Z", 90001);
  const Tensor ray = p.in("ray", i32, {Z}, integers(0, 3100)), pixel = p.in("pixel", i32, {Z}, integers(0, 2704));
  const Tensor length = p.in("length", f32, {Z}, uniform(0, 1.4)), measured = p.in("measured", f32, {rays}, uniform(0, 20));
  const Tensor ray_weight = p.in("ray_weight", f32, {rays}, uniform(0.03, 0.06)),
               pixel_weight = p.in("pixel_weight", f32, {pixels}, uniform(0.03, 0.06));
  const Tensor image = p.in("image", f32, {pixels}, uniform(0, 1));

  const auto ray_of = [&](Var e) { return in_range(ray(e), 0, rays); };
  const auto pixel_of = [&](Var e) { return in_range(pixel(e), 0, pixels); };
  const Tensor projected = scatter("projected", {rays}, Combine::add, 0.f, {{"e", Z}},
                                   [&](Var e) { return put(length(e) * image(pixel_of(e)), ray_of(e)); });
  const Tensor residual = compute("residual", {rays}, [&](Var i) { return (measured(i) - projected(i)) * ray_weight(i); });
  const Tensor correction = scatter("correction", {pixels}, Combine::add, 0.f, {{"e", Z}},
                                    [&](Var e) { return put(length(e) * residual(ray_of(e)), pixel_of(e)); });
  p.out(compute("next", {pixels}, [&](Var j) { return max(image(j) + 0.9f * pixel_weight(j) * correction(j), 0); }));
  const Axis i{"i", rays};
  p.out(compute("error", [&] { return sum(f64(residual(i)) * f64(residual(i)), i); }));
}
