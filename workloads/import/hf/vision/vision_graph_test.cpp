#include "workloads/import/hf/vision/vision_graph.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cctype>

#include "model/base/errors.hpp"
#include "workloads/import/workload.hpp"
#include "workloads/ir/testing/total_macs.hpp"

namespace foretell {
namespace {

using ::testing::HasSubstr;

Graph video_graph(const std::string& name, std::int64_t frames, std::int64_t height = 0,
                  std::int64_t width = 0) {
  Binding binding;
  binding.frames = frames;
  binding.image_size = height;
  binding.image_width = width;
  return build_graph(WorkloadLibrary().load(name), binding);
}

Graph image_graph(const std::string& name, std::int64_t batch = 1, std::int64_t image_size = 0) {
  Binding binding;
  binding.batch = batch;
  binding.image_size = image_size;
  return build_graph(WorkloadLibrary().load(name), binding);
}

struct Known {
  const char* name;
  std::int64_t parameters;
  double giga_macs;  // 0: not stated
};

std::string test_name(const ::testing::TestParamInfo<Known>& known) {
  std::string name = known.param.name;
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  return name;
}

class PublishedTotals : public ::testing::TestWithParam<Known> {};

// Parameters to the unit, multiply-accumulates to the digits that are published (torchvision's
// model table; the darknet and U-Net repositories).
TEST_P(PublishedTotals, ParametersAndMultiplyAccumulates) {
  const Graph graph = image_graph(GetParam().name);
  EXPECT_EQ(graph.parameter_count(), GetParam().parameters);
  if (GetParam().giga_macs > 0) {
    EXPECT_NEAR(total_macs(graph) / 1e9, GetParam().giga_macs, 0.006 * GetParam().giga_macs);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Vision, PublishedTotals,
    ::testing::Values(Known{"resnet18", 11'689'512, 1.814}, Known{"resnet34", 21'797'672, 3.664},
                      Known{"resnet50", 25'557'032, 4.089}, Known{"resnet101", 44'549'160, 7.801},
                      Known{"resnet152", 60'192'808, 11.514}, Known{"vgg11", 132'863'336, 7.609},
                      Known{"vgg13", 133'047'848, 11.308}, Known{"vgg16", 138'357'544, 15.470},
                      Known{"vgg19", 143'667'240, 19.632}, Known{"timm-vgg19", 143'667'240, 19.632},
                      Known{"unet", 31'037'698, 0}, Known{"YOLO v4", 64'363'101, 0},
                      Known{"OpenPose", 52'311'446, 0}, Known{"mobilenet_v2", 3'504'872, 0.301},
                      Known{"densenet121", 7'978'856, 2.834},
                      Known{"inception_v3", 23'834'568, 5.713},
                      Known{"wide_resnet50_2", 68'883'240, 11.398},
                      Known{"wide_resnet101_2", 126'886'696, 22.753},
                      Known{"mobilenetv3_large_100", 5'483'032, 0.217},
                      Known{"mixer_b16_224", 59'880'472, 12.61}),
    test_name);

// Parameters of the checkpoints before batch norms are folded; half of the FLOPs of the model
// table.
INSTANTIATE_TEST_SUITE_P(YoloFive, PublishedTotals,
                         ::testing::Values(Known{"YOLOv5n", 1'872'157, 2.24},
                                           Known{"YOLOv5s", 7'235'389, 8.25},
                                           Known{"YOLOv5m", 21'190'557, 24.5},
                                           Known{"YOLOv5l", 46'563'709, 54.55},
                                           Known{"YOLOv5x", 86'749'405, 102.85}),
                         test_name);

// Millions of parameters as the model tables state them, to their last digit.
TEST(YoloFive, LargerImagesMasksAndClassesHaveThePublishedParameters) {
  const std::pair<const char*, double> published[] = {
      {"YOLOv5n6", 3.2},     {"YOLOv5s6", 12.6},    {"YOLOv5m6", 35.7},   {"YOLOv5l6", 76.8},
      {"YOLOv5x6", 140.7},   {"YOLOv5n-seg", 2.0},  {"YOLOv5s-seg", 7.6}, {"YOLOv5m-seg", 22.0},
      {"YOLOv5l-seg", 47.9}, {"YOLOv5x-seg", 88.8}, {"YOLOv5n-cls", 2.5}, {"YOLOv5s-cls", 5.4},
      {"YOLOv5m-cls", 12.9}, {"YOLOv5l-cls", 26.5}, {"YOLOv5x-cls", 48.1}};
  for (const auto& [name, millions] : published) {
    const auto count = static_cast<double>(image_graph(name).parameter_count()) / 1e6;
    EXPECT_NEAR(count, millions, 0.1) << name;
  }
}

// A ViT as torchvision states it; CLIP with its texts; Perceiver IO by the FLOPs of its paper (407
// and 369 billion, two per multiply-accumulate); parameters of the checkpoints.
INSTANTIATE_TEST_SUITE_P(Transformers, PublishedTotals,
                         ::testing::Values(Known{"google/vit-base-patch16-224", 86'567'656, 17.564},
                                           Known{"clip-vit-base-patch32", 151'277'313, 38.38},
                                           Known{"openai/clip-vit-large-patch14", 427'616'513, 0},
                                           Known{"vision-perceiver-learned", 62'255'848, 0},
                                           Known{"vision-perceiver-fourier", 48'440'627, 203.5},
                                           Known{"deepmind/vision-perceiver-conv", 48'646'522,
                                                 184.5},
                                           Known{"multimodal-perceiver", 19'857'443, 0}),
                         test_name);

// Parameters of the published checkpoints, multiply-accumulates of the papers.
INSTANTIATE_TEST_SUITE_P(
    Windows, PublishedTotals,
    ::testing::Values(Known{"swin_tiny_patch4_window7_224", 28'288'354, 4.5},
                      Known{"swin_small_patch4_window7_224", 49'606'258, 8.7},
                      Known{"microsoft/swin-base-patch4-window7-224", 87'768'224, 15.4},
                      Known{"swin_large_patch4_window7_224", 196'532'476, 34.5},
                      Known{"swinv2_tiny_window8_256", 28'347'154, 5.9}),
    test_name);

std::int64_t ops_of(const Graph& graph, const std::string& kind) {
  return std::count_if(graph.ops().begin(), graph.ops().end(),
                       [&kind](const Op& op) { return op.kind == kind; });
}

// Every second block shifts there and back, but where one window covers the image: the last stage.
TEST(Swin, EverySecondBlockShiftsItsWindows) {
  const Graph graph = image_graph("swin_tiny_patch4_window7_224", 2);
  EXPECT_EQ(ops_of(graph, "Softmax"), 2 + 2 + 6 + 2);
  EXPECT_EQ(ops_of(graph, "Move"), 2 * (1 + 1 + 3) + 12);  // and a bias of distances each
}

// Attention inside windows grows with the image, where that of ViT grows with its square.
TEST(Swin, WorkGrowsWithThePixels) {
  const double small = total_macs(image_graph("swin_tiny_patch4_window7_224", 1, 224));
  const double large = total_macs(image_graph("swin_tiny_patch4_window7_224", 1, 448));
  EXPECT_NEAR(large / small, 4, 0.01);
}

// Parameters of the published checkpoints.
INSTANTIATE_TEST_SUITE_P(
    Diffusion, PublishedTotals,
    ::testing::Values(Known{"stable-diffusion-1.5-unet", 859'520'964, 401.6},
                      Known{"stable-diffusion-2.1-unet", 865'910'724, 1074.6},
                      Known{"stable-diffusion-2-inpainting-unet", 865'925'124, 0},
                      Known{"stable-diffusion-xl-unet", 2'567'463'684, 3380.6},
                      Known{"stable-diffusion-xl-refiner-unet", 2'259'526'660, 0},
                      Known{"stable-diffusion-vae", 49'490'199, 1257.3},
                      Known{"pixart-alpha-transformer", 610'856'096, 617.9},
                      Known{"pixart-sigma-transformer", 610'856'096, 644.3},
                      Known{"clip-vit-large-patch14-text", 123'060'480, 0},
                      Known{"openclip-vit-h-text", 340'387'840, 0},
                      Known{"openclip-vit-bigg-text", 694'659'840, 0}),
    test_name);

// Parameters of the published checkpoints; HunyuanDiT, CogVideoX and SANA to the digits stated.
INSTANTIATE_TEST_SUITE_P(Denoisers, PublishedTotals,
                         ::testing::Values(Known{"stable-diffusion-3.5-medium-transformer",
                                                 2'243'171'520, 0},
                                           Known{"flux.1-dev-transformer", 11'901'408'320, 0},
                                           Known{"qwen-image-transformer", 20'430'401'088, 0},
                                           Known{"wan2.1-t2v-1.3b-transformer", 1'418'996'800, 0},
                                           Known{"wan2.1-t2v-14b-transformer", 14'288'491'584, 0},
                                           Known{"hunyuan-video-transformer", 12'821'012'544, 0}),
                         test_name);

TEST(Denoisers, HaveAboutTheStatedParameters) {
  const auto billions = [](const char* name) {
    return static_cast<double>(image_graph(name).parameter_count()) / 1e9;
  };
  EXPECT_NEAR(billions("hunyuan-dit-1.2-transformer"), 1.5, 0.05);
  EXPECT_NEAR(billions("cogvideox1.5-5b-transformer"), 5.6, 0.05);
  EXPECT_NEAR(billions("sana1.5-4.8b-transformer"), 4.7, 0.05);
}

// Two linear layers with bias over 256 waves of its strength.
TEST(Denoisers, GuidanceAsAConditionHasItsParameters) {
  ModelConfig config = WorkloadLibrary().load("sana1.5-4.8b-transformer");
  const std::int64_t without = build_graph(config, {}).parameter_count();
  config.denoiser.guided_inside = true;
  const std::int64_t hidden = config.hidden;
  EXPECT_EQ(build_graph(config, {}).parameter_count() - without,
            256 * hidden + hidden + hidden * hidden + hidden);
}

// The first frame has a latent frame of its own, then every four share one. Products grow with the
// tokens, attention with their square.
TEST(Denoisers, WorkGrowsWithFramesAndPixels) {
  const char* name = "wan2.1-t2v-1.3b-transformer";
  const double one = total_macs(video_graph(name, 1));
  const double five = total_macs(video_graph(name, 5));
  const double nine = total_macs(video_graph(name, 9));
  EXPECT_GT(five, 2 * one);
  EXPECT_LT(five, 4 * one);
  EXPECT_GT(nine - five, five - one);
  EXPECT_EQ(total_macs(video_graph(name, 5, 480, 832)), five);
  EXPECT_EQ(total_macs(video_graph(name, 5, 832, 480)), five);
  EXPECT_EQ(video_graph(name, 5).parameter_count(), video_graph(name, 81).parameter_count());
}

TEST(Denoisers, SizesThatDoNotFitAreRefused) {
  const auto message = [](std::int64_t frames, std::int64_t height, std::int64_t width,
                          const char* name = "hunyuan-video-transformer") -> std::string {
    try {
      video_graph(name, frames, height, width);
    } catch (const UserError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(message(80, 0, 0), HasSubstr("77 or 81 would do"));
  EXPECT_THAT(message(81, 720, 1290), HasSubstr("--image-width must be a multiple of 16"));
  EXPECT_THAT(message(81, 719, 1280), HasSubstr("--image-size must be a multiple of 16"));
  EXPECT_THAT(message(5, 0, 0, "flux.1-dev-transformer"), HasSubstr("leave --frames out"));
}

TEST(Denoisers, AFileOfTheDiffusersLibraryIsReadAsItIs) {
  const ModelConfig config = parse_model_config(
      R"({"_class_name": "WanTransformer3DModel", "_diffusers_version": "0.33.0.dev0",
          "added_kv_proj_dim": null, "attention_head_dim": 128, "cross_attn_norm": true,
          "eps": 1e-06, "ffn_dim": 8960, "freq_dim": 256, "image_dim": null, "in_channels": 16,
          "num_attention_heads": 12, "num_layers": 30, "out_channels": 16,
          "patch_size": [1, 2, 2], "qk_norm": "rms_norm_across_heads", "rope_max_seq_len": 1024,
          "text_dim": 4096})",
      "wan", "config.json");
  EXPECT_EQ(build_graph(config, {}).parameter_count(), 1'418'996'800);
}

// For the published checkpoints, without the token that stands for hidden patches in training.
INSTANTIATE_TEST_SUITE_P(Towers, PublishedTotals,
                         ::testing::Values(Known{"dinov2-base", 86'579'712, 0},
                                           Known{"siglip-base-patch16-224-vision", 92'884'224, 0}),
                         test_name);

// Parameters of two towers as publications of the network name them, rounded: 878 and 203 million.
TEST(Siglip, BothTowersHaveTheParametersThatItsPublisherNames) {
  const auto parsed = [](const char* text) { return parse_model_config(text, "s", "config.json"); };
  const ModelConfig large = parsed(
      R"({"architectures": ["SiglipModel"], "model_type": "siglip",
          "text_config": {"hidden_size": 1152, "intermediate_size": 4304,
                          "num_attention_heads": 16, "num_hidden_layers": 27},
          "vision_config": {"hidden_size": 1152, "image_size": 384, "intermediate_size": 4304,
                            "num_attention_heads": 16, "num_hidden_layers": 27,
                            "patch_size": 14}})");
  const Graph graph = build_graph(large, {4, 1});
  EXPECT_NEAR(static_cast<double>(graph.parameter_count()), 878e6, 0.005 * 878e6);
  EXPECT_EQ(graph.tensor(graph.outputs().front()).shape, (Shape{4, 1})) << "images by texts";
  EXPECT_EQ(ops_of(graph, "CausalMask"), 0);
  const ModelConfig base = parsed(
      R"({"model_type": "siglip", "text_config": {}, "vision_config": {"image_size": 224}})");
  EXPECT_NEAR(static_cast<double>(build_graph(base, {1, 1}).parameter_count()), 203e6,
              0.005 * 203e6);
}

// As their publisher counts them, but the token in place of hidden patches, which only training
// has.
TEST(Dino, GatesAndRegistersHaveTheirParameters) {
  const auto parameters = [](const std::string& text) {
    return build_graph(parse_model_config(text, "dino", "config.json"), {}).parameter_count();
  };
  EXPECT_EQ(parameters(R"({"model_type": "dinov2", "hidden_size": 1536, "num_hidden_layers": 40,
      "num_attention_heads": 24, "patch_size": 14, "image_size": 518, "hidden_act": "gelu",
      "use_swiglu_ffn": true})"),
            1'136'480'768 - 1536);
  const std::string base = R"({"model_type": "dinov3_vit", "hidden_size": 768,
      "intermediate_size": 3072, "num_attention_heads": 12, "num_register_tokens": 4,
      "key_bias": false, "image_size": 224)";
  EXPECT_EQ(parameters(base + "}"), 85'660'416 - 768);
  Binding four;
  four.batch = 4;
  const ModelConfig config = parse_model_config(base + "}", "dino", "config.json");
  EXPECT_NEAR(build_graph(config, four).total_flops().value(),
              4 * build_graph(config, {}).total_flops().value(), 1e6);
  EXPECT_EQ(parameters(base + R"(, "query_bias": false})"), 85'660'416 - 768 - 12 * 768);
  EXPECT_EQ(parameters(R"({"model_type": "dinov3_vit", "hidden_size": 4096,
      "intermediate_size": 8192, "num_attention_heads": 32, "num_hidden_layers": 40,
      "num_register_tokens": 4, "use_gated_mlp": true, "hidden_act": "silu", "query_bias": false,
      "key_bias": false, "value_bias": false})"),
            6'716'035'072 - 4096);
}

// The files of CLIP say only what differs from ViT-B/32.
TEST(Clip, WhatAFileLeavesOutIsThatOfTheSmallestNetwork) {
  const auto parameters = [](const char* text) {
    Binding binding;
    return build_graph(parse_model_config(text, "clip", "config.json"), binding).parameter_count();
  };
  EXPECT_EQ(parameters(R"({"model_type": "clip", "text_config": {}, "vision_config": {}})"),
            151277313);
  EXPECT_EQ(parameters(R"({"model_type": "clip", "projection_dim": 768, "text_config":
      {"hidden_size": 768, "intermediate_size": 3072, "num_attention_heads": 12},
      "vision_config": {"hidden_size": 1024, "intermediate_size": 4096, "num_attention_heads": 16,
      "num_hidden_layers": 24, "patch_size": 14}})"),
            427616513);
}

TEST(Vision, WorkGrowsWithBatchAndPixels) {
  EXPECT_EQ(total_macs(image_graph("resnet18", 8)), 8 * total_macs(image_graph("resnet18")));
  EXPECT_EQ(image_graph("UNet", 1, 448).parameter_count(), image_graph("UNet").parameter_count());
  EXPECT_EQ(total_macs(image_graph("UNet", 1, 448)), 4 * total_macs(image_graph("UNet")));
}

TEST(Vision, SizesThatDoNotFitAreRefused) {
  const auto message = [](const char* name, std::int64_t size) -> std::string {
    try {
      image_graph(name, 1, size);
    } catch (const UserError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(message("vgg16", 256), HasSubstr("--image-size must be 224"));
  EXPECT_THAT(message("UNet", 100), HasSubstr("multiple of 16"));
  EXPECT_THAT(message("YOLO v4", 100), HasSubstr("multiple of 32"));
  EXPECT_THAT(message("YOLOv5s", 100), HasSubstr("multiple of 32"));
  EXPECT_THAT(message("YOLOv5s6", 672), HasSubstr("multiple of 64"));
  EXPECT_EQ(message("YOLOv5s-cls", 100), "");
  EXPECT_THAT(message("vit-base-patch16-224", 384), HasSubstr("--image-size must be 224"));
  EXPECT_THAT(message("swin_tiny_patch4_window7_224", 256), HasSubstr("windows of 7 tokens"));
  EXPECT_THAT(message("vision-perceiver-conv", 384), HasSubstr("--image-size must be 224"));
  EXPECT_THAT(message("stable-diffusion-1.5-unet", 100), HasSubstr("multiple of 64"));
  EXPECT_THAT(message("stable-diffusion-1.5", 0), HasSubstr("stable-diffusion-1.5-unet"));
}

}  // namespace
}  // namespace foretell
