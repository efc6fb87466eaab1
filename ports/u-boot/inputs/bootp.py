# SPDX-License-Identifier: MIT
"""A network with one malicious BOOTP server, at the other end of QEMU's `-netdev socket,connect=`.

Each frame comes after its length: 32 bits, most significant byte first.
"""

import socket
import struct
import threading

SERVER_MAC = bytes.fromhex("525400aa0001")
SERVER_IP = bytes((10, 9, 8, 1))
CLIENT_IP = bytes((10, 9, 8, 2))
MAGIC = bytes((99, 130, 83, 99))
BROADCAST = b"\xff" * 4


def _checksum(data):
    total = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def frame(client_mac, payload):
    """Return @payload as an Ethernet frame with a UDP datagram from the server's port to the client's."""
    udp = struct.pack(">HHHH", 67, 68, 8 + len(payload), 0) + payload
    head = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(udp), 0, 0, 64, 17, 0) + SERVER_IP + BROADCAST
    head = head[:10] + struct.pack(">H", _checksum(head)) + head[12:]
    return client_mac + SERVER_MAC + b"\x08\x00" + head + udp


def reply(request, vendor):
    """Return a BOOTP reply to @request that ends with @vendor."""
    answer = bytes((2, 1, 6, 0)) + request[4:12] + bytes(4) + CLIENT_IP + SERVER_IP + bytes(4)
    answer += request[28:44] + b"server".ljust(64, b"\0") + b"file".ljust(128, b"\0")
    return answer + vendor


class Server(threading.Thread):
    """Answers every BOOTP request with a reply that ends with @vendor. port: the one where it listens."""

    def __init__(self, vendor):
        super().__init__(daemon=True)
        self.vendor = vendor
        self.answers = 0
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]

    def close(self):
        self._socket.close()

    def run(self):
        try:
            connection, _ = self._socket.accept()
        except OSError:
            return
        with connection, connection.makefile("rb") as stream:
            while len(head := stream.read(4)) == 4:
                data = stream.read(struct.unpack(">I", head)[0])
                # Ethernet, IP without options, UDP to port 67, a request.
                if data[12:14] != b"\x08\x00" or data[23] != 17 or data[36:38] != b"\0\x43":
                    continue
                request = data[42:]
                answer = frame(data[6:12], reply(request, self.vendor))
                try:
                    connection.sendall(struct.pack(">I", len(answer)) + answer)
                except OSError:
                    return
                self.answers += 1
