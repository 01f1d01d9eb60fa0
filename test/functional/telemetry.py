# SPDX-License-Identifier: BSD-3-Clause
"""A client of DPDK's telemetry socket."""
import json
import socket


class Telemetry:
    def __init__(self, prefix):
        self.path = f'/var/run/dpdk/{prefix}/dpdk_telemetry.v2'

    def query(self, command):
        """The value that the path (with its parameters after a comma) answers."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as sock:
            sock.settimeout(10)
            sock.connect(self.path)
            hello = json.loads(sock.recv(1024))
            sock.send(command.encode())
            answer = json.loads(sock.recv(hello['max_output_len']))
        return answer[command.split(',')[0]]
