"""JAX's options (0.10 to 0.12) that are none here: known by name, so that a program that sets one is told what becomes of it."""

from typing import Any


_KNOWN = frozenset(
    """
    backend_target bcoo_cusparse_lowering
    captured_constants_report_frames captured_constants_warn_bytes check_proxy_envs
    compilation_cache_check_contents compilation_cache_expect_pgle compilation_cache_include_metadata_in_key
    compiler_detailed_logging_min_ops compiler_enable_remat_pass cpu_collectives_implementation
    cpu_enable_async_dispatch cpu_get_global_topology_timeout_minutes cpu_get_local_topology_timeout_minutes
    cross_host_transfer_socket_address cross_host_transfer_timeout_seconds cross_host_transfer_transfer_size
    cross_host_transport_addresses cuda_visible_devices custom_vjp3 debug_leaked_clients_on_clear_backends
    debug_log_modules disable_bwd_checks disable_most_optimizations disable_vmap_shmap_error
    disallow_mesh_context_manager distributed_debug dump_ir_modes dump_ir_to embedded_constants_max_bytes
    enable_pgle enable_preemption_service enable_recoverability
    exec_time_optimization_effort experimental_unsafe_xla_runtime_errors
    export_calling_convention_version export_ignore_forward_compatibility force_dcn_cross_host_transfers
    high_dynamic_range_gumbel hlo_source_file_canonicalization_regex include_debug_info_in_dumps
    include_full_tracebacks_in_locations log_checkpoint_residuals logging_level
    memory_fitting_effort memory_fitting_level mock_gpu_topology mosaic_allow_hlo mutable_array_checks     oneapi_visible_devices optimization_level pallas_enable_debug_checks pallas_poison_buffers
    pallas_use_mosaic_gpu pallas_verbose_errors persistent_cache_enable_xla_caches
    persistent_cache_min_compile_time_secs persistent_cache_min_entry_size_bytes pgle_aggregation_percentile
    pgle_profiling_runs pjrt_client_create_options platform_name platforms pprint_use_color
    ragged_dot_use_gpu_pallas_triton_lowering raise_persistent_cache_errors
    ragged_dot_use_ragged_dot_instruction refs_to_pins remat3 remove_custom_partitioning_ptr_from_cache_key
    rocm_visible_devices scan3 send_traceback_to_runtime serialization_version
    share_binary_between_hosts share_binary_between_hosts_timeout_ms     sort_devices_by_process_index source_url_schema threefry_gpu_kernel_lowering
    traceback_in_locations_limit tracer_error_num_traceback_frames         use_direct_linearize use_emit_pipeline_primitive use_magma use_shardy_partitioner
    accurate_erf_inv custom_jvp3 distributed_verify_secure_credentials export_deserialize_expired_versions mosaic_unzip_debug_locations
    mtls_ca_file mtls_cert_file mtls_key_file mtls_peer_uri_prefix pallas_auto_assign_collective_ids
    pallas_auto_assign_collective_ids_limit raise_on_ppermute_sort_diff remat_barrier_no_cotangents use_cpp_shard_args
    use_hlo_logistic_lowering use_rgv3
    use_simplified_jaxpr_constants xla_backend xla_profile_version
    """.split()
)
_LATER = frozenset(
    """
    error_checking_behavior_divide error_checking_behavior_nan
    error_checking_behavior_oob
    """.split()
)
_WHY = {
    "persistent_cache_min_compile_time_secs": "programs are kept on disk however long they took to compile",
    "persistent_cache_min_entry_size_bytes": "programs of any size are kept on disk",
    "platform_name": "this release runs on the CPU",
    "platforms": "this release runs on the CPU",
}
_SO_HERE = {"platforms": ("cpu", "", None), "platform_name": ("cpu", "", None)}
"""Values that say what is the case here: nothing to warn about."""


_DEFAULTS = {
    "captured_constants_warn_bytes": 2_000_000_000,
    "compiler_detailed_logging_min_ops": 10,
    "cpu_collectives_implementation": "gloo",
    "cpu_enable_async_dispatch": True,
    "error_checking_behavior_divide": "ignore",
    "error_checking_behavior_nan": "ignore",
    "error_checking_behavior_oob": "ignore",
    "include_full_tracebacks_in_locations": True,
    "persistent_cache_min_compile_time_secs": 0.0,
    "persistent_cache_min_entry_size_bytes": 0,
    "pprint_use_color": False,
    "traceback_in_locations_limit": 100,
    "tracer_error_num_traceback_frames": 5,
}


def default(name: str) -> Any:
    """What such an option is read as before it is set."""
    return _DEFAULTS.get(name.removeprefix("jax_"))


def names() -> frozenset[str]:
    """Of all such options, without `jax_`."""
    return _KNOWN | _LATER


def is_known(name: str) -> bool:
    """Whether JAX has an option of this name, with or without `jax_`."""
    return name.removeprefix("jax_") in names()


def comes_later(name: str) -> bool:
    """Whether the option is planned for a later release."""
    return name.removeprefix("jax_") in _LATER


def is_so_here(name: str, value: Any) -> bool:
    """Whether the value says what is the case anyway."""
    return value in _SO_HERE.get(name.removeprefix("jax_"), ())


def why(name: str) -> str:
    """The reason, as the end of a sentence: ": …", or nothing."""
    short = name.removeprefix("jax_")
    reason = "it comes in a later release" if short in _LATER else _WHY.get(short)
    return f": {reason}" if reason else ""
