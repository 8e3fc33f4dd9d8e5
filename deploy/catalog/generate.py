#!/usr/bin/env python3
"""Writes the built-in catalogue from base.yaml (vendors, names, tasks) and prices.json (facts of models).

    deploy/catalog/generate.py           writes crates/kit/src/catalog/default.yaml
    deploy/catalog/generate.py --check   fails when that file is not what would be written

prices.json holds what was collected from vendors' documentation and price lists; each row says from where. The
functions below turn a row into the words of the configuration file, one concern each.
"""

import json
import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
OUTPUT = HERE.parent.parent / "crates/kit/src/catalog/default.yaml"
HEADER = """\
# The built-in catalogue. Written by deploy/catalog/generate.py; change base.yaml or prices.json there instead.
# Prices are USD per million tokens. Facts collected 2026-11-29.

"""

# Price class by the price of output, after every announced change.
PREMIUM_FROM, STANDARD_FROM = 20, 3
SAMPLING = ["temperature", "top_p", "top_k"]
PENALTIES = ["presence_penalty", "frequency_penalty"]
LEVELS = ["low", "medium", "high"]


def version(model):
    """(6, 1) for gpt-6.1-sol; (0, 0) where the name has none."""
    found = re.search(r"gpt-(\d+)(?:\.(\d+))?", model)
    return (int(found[1]), int(found[2] or 0)) if found else (0, 0)


def capabilities(row):
    has = set(row["capabilities"])
    out = [name for name in ("text", "streaming", "image_input", "tools", "parallel_tools") if name in has]
    if "tool_choice" in has and row.get("forced_tool_use", True):
        out.append("forced_tools")
    if "text" in has:
        out.append("json_object")
    # Older Anthropic models give schema output through a forced tool.
    if "json_schema" in has or "json_schema_via_tool" in has:
        out.append("json_schema")
    # Gemini's batches of texts have a form of their own, which Signalbox does not speak: they are called as usual.
    if row["vendor"] == "gemini" and "embeddings" in has:
        has.discard("batch")
    return out + [name for name in ("reasoning", "embeddings", "batch") if name in has]


def openai_parameters(row):
    model, rule = row["model"], row.get("temperature_rule", "")
    reasons = "reasoning" in row["capabilities"]
    responses_only = row["endpoints"] == ["responses"]
    out = {"refused": ["top_k"]}
    if rule == "only the default value 1":
        out["refused"] += ["temperature", "top_p"]
    elif rule.startswith("only with reasoning_effort none"):
        out["sampling_needs_no_reasoning"] = True
    if reasons:
        out["refused"] += PENALTIES
        efforts = row["reasoning_efforts"]
        out["reasoning"] = "effort"
        out["reasoning_efforts"] = efforts
        # Models without a documented default think when not asked; OpenAI's usual effort is medium.
        out["default_effort"] = row.get("default_reasoning_effort") or "medium"
        if "none" not in efforts:
            out["always_reasons"] = True
    # o3, o4-mini and gpt-5 and later take no stop; the responses API has neither stop nor seed.
    if responses_only or version(model) >= (5, 0) or model in ("o3", "o4-mini"):
        out["refused"].append("stop")
    if responses_only:
        out["refused"].append("seed")
    if "tools" in row["capabilities"] and "parallel_tools" not in row["capabilities"]:
        out["refused"].append("parallel_tool_calls")
    if responses_only:
        out["openai_endpoint"] = "responses"
    elif reasons and version(model) >= (5, 4):
        out["openai_endpoint"] = "responses_for_tools"
    return out


def anthropic_parameters(row):
    modes = row["thinking_modes"]
    out = {"refused": PENALTIES + ["seed", "metadata", "image_detail"]}
    if "json_schema_via_tool" in row["capabilities"]:
        out["json_schema_by_tool"] = True
    if not row["accepts_temperature"]:
        out["refused"] = SAMPLING + out["refused"]
    if not modes:
        return out
    out["reasoning"] = "anthropic_adaptive" if "adaptive" in modes else "anthropic_budget"
    always = row.get("thinking_always_on", False)
    # xhigh and max are taken by the large models from 4.7 on; asking a model for a level it lacks is an error.
    large = not row["accepts_temperature"] and "haiku" not in row["model"]
    efforts = LEVELS + (["xhigh", "max"] if large else [])
    out["reasoning_efforts"] = efforts if always else ["none"] + efforts
    thinks = always or row.get("thinking_on_by_default", False)
    out["default_effort"] = "high" if thinks else "none"
    if always:
        out["always_reasons"] = True
    if row["accepts_temperature"]:
        out["sampling_needs_no_reasoning"] = True
    return out


def gemini_parameters(row):
    model, control = row["model"], row.get("thinking_control")
    refused = PENALTIES + ["metadata", "end_user", "parallel_tool_calls", "strict", "image_detail"]
    out = {"refused": refused if row["accepts_temperature"] else SAMPLING + refused}
    if control == "thinkingLevel":
        out["reasoning"] = "gemini_level"
        out["reasoning_efforts"] = (["minimal"] if "flash" in model else []) + LEVELS
        out["default_effort"] = "high"
        out["always_reasons"] = True
    elif control == "thinkingBudget":
        out["reasoning"] = "gemini_budget"
        always = "pro" in model
        out["reasoning_efforts"] = LEVELS if always else ["none"] + LEVELS
        out["default_effort"] = "none" if "lite" in model else "medium"
        if always:
            out["always_reasons"] = True
    return out


def xai_parameters(row):
    rejects = row.get("rejects", [])
    out = {"refused": ["top_k", "strict", "metadata"] + [name for name in rejects if name != "reasoning_effort"]}
    if row.get("endpoints") == ["responses"]:
        out["openai_endpoint"] = "responses"
    if "reasoning" not in row["capabilities"]:
        out["refused"].append("reasoning_effort")
        return out
    out["default_effort"] = "high"
    out["always_reasons"] = True
    # The effort is documented for these; of the others some refuse it, so it is not sent.
    takes = {"grok-4.7": ["xhigh"], "grok-4.6": ["xhigh"], "grok-4.5": ["xhigh"], "grok-4.3": []}
    if row["model"] in takes:
        out["reasoning"] = "effort"
        out["reasoning_efforts"] = LEVELS + takes[row["model"]]
    else:
        out["refused"].append("reasoning_effort")
    return out


def ollama_parameters(row):
    out = {"refused": ["parallel_tool_calls", "metadata", "end_user", "strict", "image_detail"]}
    if "reasoning" not in row["capabilities"]:
        return out
    if row["model"].startswith("gpt-oss"):
        return out | {"reasoning": "ollama_think_level", "reasoning_efforts": LEVELS, "default_effort": "medium", "always_reasons": True}
    return out | {"reasoning": "ollama_think", "reasoning_efforts": ["none"] + LEVELS, "default_effort": "medium"}


PARAMETERS = {
    "openai": openai_parameters,
    "anthropic": anthropic_parameters,
    "gemini": gemini_parameters,
    "xai": xai_parameters,
    "ollama": ollama_parameters,
}


def number(value):
    """A price without floating-point noise."""
    return format(round(value, 6), "f").rstrip("0").rstrip(".")


def rates(row, hour_write):
    names = [
        ("input", row["input_usd_per_mtok"]),
        ("cache_read", row.get("cached_input_usd_per_mtok")),
        ("cache_write", row.get("cache_write_usd_per_mtok")),
        ("cache_write_1h", hour_write),
        ("output", row["output_usd_per_mtok"]),
    ]
    return {name: number(value) for name, value in names if value is not None}


def price_rows(row):
    if row["vendor"] == "ollama":
        return [{"input": "0", "output": "0"}]
    hour = row.get("cache_write_1h_usd_per_mtok")
    first = rates(row, hour)
    if row["batch_discount"] is not None:
        first["batch_discount"] = number(row["batch_discount"])
    if long := row.get("long_context"):
        assert long["whole_request"], row["model"]
        # Where a model has an hour-long cache, writing to it costs twice the input, in every step.
        step = {long["applies"]: str(long["threshold_prompt_tokens"])}
        first["steps"] = [step | rates(long, None if hour is None else 2 * long["input_usd_per_mtok"])]
    rows = [first]
    if change := row.get("price_change"):
        assert "long_context" not in row and hour is None, row["model"]
        later = {"from": change["effective"]} | rates(change, None)
        if "batch_discount" in first:
            later["batch_discount"] = first["batch_discount"]
        rows.append(later)
    return rows


def tier(row):
    if "text" not in row["capabilities"]:
        return None
    output = max(row["output_usd_per_mtok"], row.get("price_change", {}).get("output_usd_per_mtok", 0))
    return "premium" if output >= PREMIUM_FROM else "standard" if output >= STANDARD_FROM else "economy"


def model(row):
    """The row in the words of the configuration file."""
    out = {"capabilities": capabilities(row), "context_window": str(row["context_window"])}
    if row["max_output_tokens"] is not None:
        out["max_output_tokens"] = str(row["max_output_tokens"])
    if "text" in row["capabilities"]:
        out["parameters"] = PARAMETERS[row["vendor"]](row)
    out["prices"] = price_rows(row)
    if tier(row):
        out["tier"] = tier(row)
    out["status"] = row["status"]
    if row.get("shutdown_date"):
        out["shutdown_date"] = row["shutdown_date"]
    if successor := row.get("successor"):
        out["successor"] = successor if "/" in successor else f"{row['vendor']}/{successor}"
    notes = [row["source"]] + [row[key] for key in ("field_note", "shutdown_note", "context_note", "batch_discount_note") if key in row]
    if "shutdown_date_certainty" in row:
        notes.append("shutdown date " + row["shutdown_date_certainty"])
    out["source"] = json.dumps("; ".join(notes))
    out["as_of"] = row["as_of"]
    return out


def flow(value):
    """A value on one line; every word used here is a plain YAML scalar."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key}: {flow(item)}" for key, item in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(flow(item) for item in value) + "]"
    return {True: "true", False: "false"}.get(value, value) if isinstance(value, bool) else value


def block(name, row):
    lines = [f"  {name}:"]
    for key, value in model(row).items():
        if key in ("prices", "parameters"):
            lines.append(f"    {key}:")
            items = [f"      - {flow(item)}" for item in value] if key == "prices" else [f"      {k}: {flow(v)}" for k, v in value.items()]
            lines += items
        else:
            lines.append(f"    {key}: {flow(value)}")
    return "\n".join(lines)


def main():
    rows = json.loads((HERE / "prices.json").read_text())
    models = "\n".join(block(f"{row['vendor']}/{row['model']}", row) for row in rows)
    text = HEADER + (HERE / "base.yaml").read_text() + "\nmodels:\n" + models + "\n"
    if "--check" in sys.argv[1:]:
        if OUTPUT.read_text() != text:
            sys.exit(f"{OUTPUT} is out of date: run deploy/catalog/generate.py")
    else:
        OUTPUT.write_text(text)


if __name__ == "__main__":
    main()
