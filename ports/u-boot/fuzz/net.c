// SPDX-License-Identifier: MIT
/*
 * net.c - packets from a network, in the middle of an exchange that U-Boot began itself: DHCP, DNS, TFTP, NFS or ping.
 *
 * The input's first byte chooses the exchange. Then come the packets: a byte, two bytes of length, least significant
 * first, and the packet:
 *
 *	bit 0	0: the contents of a UDP datagram that answers U-Boot's last one; 1: all after the Ethernet header
 *	bit 1	the number of the transaction is put in, as a real server would
 *	bit 2	to the broadcast address
 *
 * When all are delivered the exchange ends.
 */
#include <common.h>
#include <dm.h>
#include <env.h>
#include <image.h>
#include <net.h>
#include <net/tftp.h>
#include <dm/device-internal.h>
#include <dm/lists.h>
#include <dm/root.h>

#include "target.h"

#define TRANSACTION 1536
#define ETHERNET    14
#define IP_UDP	    28
#define RAW	    1
#define ANSWERS	    2
#define BROADCAST   4

static const unsigned char server_mac[6] = {0x52, 0x54, 0, 0xaa, 0, 1};
static const unsigned char own_mac[6] = {0x52, 0x54, 0, 0x12, 0x34, 0x56};
static const unsigned char server_ip[4] = {10, 9, 8, 1}, own_ip[4] = {10, 9, 8, 2};

static const unsigned char *at;
static unsigned long left;
/* The last datagram that U-Boot has sent: its ports, and its first bytes. */
static unsigned char sent_ports[4], sent[8];
static int who_has;
static unsigned char packet[TRANSACTION] __aligned(64);

static int wire_start(struct udevice *dev)
{
	return 0;
}

static void wire_stop(struct udevice *dev)
{
}

static int wire_send(struct udevice *dev, void *data, int length)
{
	const unsigned char *bytes = data;

	if (length >= ETHERNET + 8 && bytes[12] == 8 && bytes[13] == 6 && bytes[21] == 1)
		who_has = 1;
	if (length < ETHERNET + IP_UDP + 8 || bytes[12] != 8 || bytes[13] != 0 || bytes[23] != 17)
		return 0;
	memcpy(sent_ports, bytes + ETHERNET + 20, sizeof(sent_ports));
	memcpy(sent, bytes + ETHERNET + IP_UDP, sizeof(sent));
	return 0;
}

/* The server answers U-Boot's question for its Ethernet address at once. */
static int answer_arp(void)
{
	static const unsigned char head[8] = {0, 1, 8, 0, 6, 4, 0, 2};

	memcpy(packet, own_mac, 6);
	memcpy(packet + 6, server_mac, 6);
	packet[12] = 8;
	packet[13] = 6;
	memcpy(packet + 14, head, 8);
	memcpy(packet + 22, server_mac, 6);
	memcpy(packet + 28, server_ip, 4);
	memcpy(packet + 32, own_mac, 6);
	memcpy(packet + 38, own_ip, 4);
	who_has = 0;
	return 42;
}

static void put16(unsigned char *to, unsigned int value)
{
	to[0] = value >> 8;
	to[1] = value;
}

/* Put @length bytes at @data into an IP datagram from the server to U-Boot. Return: bytes of the packet. */
static int answer(const unsigned char *data, unsigned int length, int how)
{
	unsigned char *ip = packet + ETHERNET, *udp = ip + 20, *body = udp + 8;

	length = min_t(unsigned int, length, TRANSACTION - ETHERNET - IP_UDP);
	memset(packet, 0, ETHERNET + IP_UDP);
	memcpy(body, data, length);
	if (how & ANSWERS && length >= 8) {
		/* DHCP has it in the second word, DNS and NFS in the first. */
		if (sent_ports[3] == 67)
			memcpy(body + 4, sent + 4, 4);
		else if (sent_ports[3] == 53)
			memcpy(body, sent, 2);
		else if (sent_ports[3] != 69)
			memcpy(body, sent, 4);
	}
	memcpy(packet, own_mac, 6);
	memcpy(packet + 6, server_mac, 6);
	packet[12] = 8;
	ip[0] = 0x45;
	put16(ip + 2, IP_UDP + length);
	ip[8] = 64;
	ip[9] = 17;
	memcpy(ip + 12, server_ip, 4);
	if (how & BROADCAST)
		memset(ip + 16, 0xff, 4);
	else
		memcpy(ip + 16, &net_ip, 4);
	*(__be16 *)(ip + 10) = compute_ip_checksum(ip, 20);
	memcpy(udp, sent_ports + 2, 2);
	memcpy(udp + 2, sent_ports, 2);
	put16(udp + 4, 8 + length);
	return ETHERNET + IP_UDP + length;
}

static int wire_receive(struct udevice *dev, int flags, uchar **to)
{
	unsigned int length;
	int how, size;

	*to = packet;
	if (who_has)
		return answer_arp();
	if (left < 3) {
		net_set_state(NETLOOP_FAIL);
		return 0;
	}
	how = at[0];
	length = at[1] | at[2] << 8;
	at += 3;
	left -= 3;
	length = min_t(unsigned long, length, left);
	if (how & RAW) {
		size = min_t(unsigned int, length, TRANSACTION - ETHERNET);
		memcpy(packet, own_mac, 6);
		memcpy(packet + 6, server_mac, 6);
		put16(packet + 12, how & ANSWERS ? 0x806 : 0x800);
		memcpy(packet + ETHERNET, at, size);
		size += ETHERNET;
	} else {
		size = answer(at, length, how);
	}
	at += length;
	left -= length;
	return size;
}

static const struct eth_ops wire_ops = {
	.start = wire_start,
	.send = wire_send,
	.recv = wire_receive,
	.stop = wire_stop,
};

U_BOOT_DRIVER(fuzz_wire) = {
	.name = "fuzz_wire",
	.id = UCLASS_ETH,
	.ops = &wire_ops,
	.plat_auto = sizeof(struct eth_pdata),
};

static const char *start(void)
{
	struct udevice *dev;
	struct eth_pdata *pdata;

	if (device_bind_driver(dm_root(), "fuzz_wire", "fuzz", &dev))
		return "fuzz: no network device";
	pdata = dev_get_plat(dev);
	env_set("ethaddr", "52:54:00:12:34:56");
	memcpy(pdata->enetaddr, own_mac, 6);
	if (device_probe(dev))
		return "fuzz: the network device does not start";
	env_set("netretry", "no");
	env_set("autoload", "no");
	return NULL;
}

static int run(const unsigned char *data, unsigned long size)
{
	static const enum proto_t exchanges[] = {DHCP, DNS, TFTPGET, NFS, PING};
	static char host_name[] = "host.example", variable[] = "address";

	if (size < 4)
		return -1;
	at = data + 1;
	left = size - 1;
	who_has = 0;
	memset(sent_ports, 0, sizeof(sent_ports));
	memset(sent, 0, sizeof(sent));
	memcpy(&net_ip, own_ip, 4);
	memcpy(&net_server_ip, server_ip, 4);
	memcpy(&net_dns_server, server_ip, 4);
	memcpy(&net_ping_ip, server_ip, 4);
	memset(&net_gateway, 0, sizeof(net_gateway));
	memset(&net_netmask, 0, sizeof(net_netmask));
	net_dns_resolve = host_name;
	net_dns_env_var = variable;
	strcpy(net_boot_file_name, "/folder/file");
	image_load_addr = 0x42000000;
	net_loop(exchanges[data[0] % ARRAY_SIZE(exchanges)]);
	left = 0;
	return 0;
}

const struct fuzz_target fuzz_net = {"net", start, run};
