"""Run the benchmarks: ``python -m bench`` for all, ``python -m bench ols ridge_search`` for some.

With ``--write`` the results of some take the place of their earlier ones in the documentation.
"""

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from bench.harness import measure, measure_grid, write

HERE = Path(__file__).parent
WORKLOADS = (
    "ols",
    "ridge",
    "ridge_search",
    "ridge_leave_one_out",
    "kernel_ridge",
    "kernel_ridge_path",
    "lasso",
    "lasso_path_wide",
    "lasso_path_tall",
    "lasso_search",
    "searches",
    "logistic",
    "logistic_classes",
    "logistic_sizes",
    "logistic_l1",
    "discriminants",
    "naive_bayes",
    "perceptron",
    "svm",
    "svm_digits",
    "svm_predict",
    "svm_linear",
    "neighbors",
    "trees",
    "forests",
    "boosting",
    "adaboost",
    "pca",
    "kernel_pca",
    "cca",
    "kmeans",
    "kmeans_separated",
    "kmeans_single",
    "kmeans_seeding",
    "kmeans_many",
    "kmeans_parquet",
    "spectral",
    "mixtures",
    "mixtures_far",
    "mixtures_parquet",
    "neural",
    "neural_small",
    "neural_images",
    "omp",
    "parquet",
    "association",
    "start",
    "first_fit",
    "shapes",
)


def show(result: dict[str, Any]) -> None:
    """Print what was measured."""
    ratio = "" if result["ratio"] is None else f"  ratio {result['ratio']:.2f} ({result['verdict']})"
    print(f"{result['workload']}{ratio}", flush=True)
    for row in result["rows"]:
        print(f"    {row['name']:<28}{row['median']:>10.4f} s   objective {row['objective']:.10g}", flush=True)
    for note in result["notes"]:
        print(f"    {note}")


def main() -> None:
    named = [word for word in sys.argv[1:] if word != "--write"]
    chosen = named or list(WORKLOADS)
    results = []
    for name in chosen:
        module = import_module(f"bench.{name}")
        if hasattr(module, "result"):
            results.append(module.result())
            continue
        if hasattr(module, "grid"):
            result = measure_grid(module.grid())
            results.append(result)
            print(
                f"{result['workload']}  geometric mean {result['geometric_mean']:.2f}, worst {result['worst']}",
                flush=True,
            )
            continue
        for workload in module.workloads() if hasattr(module, "workloads") else [module.workload()]:
            result = measure(workload)
            results.append(result)
            show(result)
    if not named or "--write" in sys.argv:
        write(results, str(HERE / "results.json"), str(HERE.parent / "docs" / "benchmarks.md"))


if __name__ == "__main__":
    main()
