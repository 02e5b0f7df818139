"""What the measuring scripts share: the machine, rows of JSON, and time budgets."""
import gc, json, os, sys, time
import torch

OUT = os.environ.get("OUT", ".")
START = time.monotonic()


def elapsed():
    return time.monotonic() - START


class Rows:
    def __init__(self, name):
        self.file = open(os.path.join(OUT, name), "a")

    def write(self, **row):
        self.file.write(json.dumps(row) + "\n")
        self.file.flush()


def machine():
    p = torch.cuda.get_device_properties(0)
    row = dict(kind="machine", card=p.name, memory=p.total_memory, units=p.multi_processor_count, torch=torch.__version__,
               cuda=torch.version.cuda, cudnn=torch.backends.cudnn.version(), date=time.strftime("%Y-%m-%d"))
    try:
        import subprocess
        row["smi"] = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version,power.limit,clocks.max.sm,clocks.max.mem",
                                     "--format=csv,noheader"], capture_output=True, text=True).stdout.strip()
        row["cpu"] = [l.split(":")[1].strip() for l in open("/proc/cpuinfo") if l.startswith("model name")][0]
    except Exception as e:
        row["smi_error"] = repr(e)
    for name in ("transformers", "peft", "triton", "accelerate"):
        try:
            row[name] = __import__(name).__version__
        except Exception as e:
            row[name] = repr(e)
    return row


_nvml = None


def sensors():
    """Clock in MHz, power in W and temperature now."""
    global _nvml
    try:
        import pynvml
        if _nvml is None:
            pynvml.nvmlInit()
            _nvml = pynvml.nvmlDeviceGetHandleByIndex(0)
        return dict(sm_mhz=pynvml.nvmlDeviceGetClockInfo(_nvml, pynvml.NVML_CLOCK_SM),
                    watts=round(pynvml.nvmlDeviceGetPowerUsage(_nvml) / 1000),
                    celsius=pynvml.nvmlDeviceGetTemperature(_nvml, 0),
                    used_mib=pynvml.nvmlDeviceGetMemoryInfo(_nvml).used >> 20)
    except Exception as e:
        return dict(sensor_error=repr(e)[:80])


def clean():
    gc.collect()
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
