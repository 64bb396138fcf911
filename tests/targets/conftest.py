"""Programs over several devices are lowered for eight of the CPU's, where the compilers for other chips are installed."""

import os

from jitscope_scope.targets.ready import plugin_for


if not any(isinstance(plugin_for(platform), str) for platform in ("cuda", "tpu")):
    os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count=8".strip()
