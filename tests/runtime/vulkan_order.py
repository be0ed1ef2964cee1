#!/usr/bin/env python3
"""The files of the Vulkan runtime use one another one way: each those that stand above it in the list of queue.h.

  vulkan_order.py NM ARCHIVE HEADER [--reversed]     the list taken from its end: must fail, which shows that the check can
"""
import re
import subprocess
import sys

nm, archive, header = sys.argv[1:4]
order = re.findall(r"^ \*   (\w+\.c)  ", open(header, encoding="utf-8").read(), re.M)
if "--reversed" in sys.argv:
    order.reverse()
defined, used = {}, []
for line in subprocess.run([nm, "-A", archive], check=True, capture_output=True, text=True).stdout.splitlines():
    match = re.match(r".*:(\w+\.c)\.o(?:bj)?:[0-9a-f ]* (\w) (\w+)$", line)
    if not match or match[1] not in order:
        continue
    member, kind, symbol = match.groups()
    if kind == "U":
        used.append((member, symbol))
    elif kind.isupper():
        defined[symbol] = member
missing = [f for f in order if f not in defined.values()]
if len(order) < 5 or missing:
    sys.exit(f"{archive} does not hold {missing} of {order}")
wrong = [f"{member} uses {symbol} of {defined[symbol]}, which stands below it" for member, symbol in used
         if symbol in defined and order.index(defined[symbol]) > order.index(member)]
print("\n".join(wrong) or f"{len(used)} uses, all of files above")
sys.exit(1 if wrong else 0)
