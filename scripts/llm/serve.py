#!/usr/bin/env python3
"""llama.cpp's own HTTP server on this machine: serve.py MODEL.gguf PORT WINDOW NAME [KEY]"""
import os
import signal
import sys

# Waiting threads that spin make small machines twenty times slower.
os.environ.setdefault("GOMP_SPINCOUNT", "0")
import xllamacpp

model, port, window, name, *key = sys.argv[1:]
threads = int(os.environ.get("THREADS", "1"))
params = xllamacpp.CommonParams()
params.model.path = model
params.model_alias = {name}
params.hostnames = ["127.0.0.1"]
params.port = int(port)
params.n_ctx = int(window)
params.n_parallel = 1
params.cpuparams.n_threads = threads
params.cpuparams_batch.n_threads = threads
params.use_jinja = True
params.offline = True
if key:
    params.api_keys = key
server = xllamacpp.Server(params)
print("listening on", server.listening_address, flush=True)
signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
signal.pause()
