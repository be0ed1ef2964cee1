// Calls the plain entry of one kernel in WebAssembly: PROGRAM.wasm NAME IN OUT, files as bare/caller.c has them.
import fs from 'node:fs';

const [program, name, from, to] = process.argv.slice(2);
const {instance} = await WebAssembly.instantiate(fs.readFileSync(program), {});
const {memory, __heap_base: heap} = instance.exports;
const input = fs.readFileSync(from);
let at = 0, end = heap.value;
const number = () => (at += 8, Number(input.readBigInt64LE(at - 8)));
const room = (bytes) => {
  const begin = Math.ceil(end / 64) * 64;
  end = begin + bytes + 64;
  while (memory.buffer.byteLength < end) memory.grow(64);
  return begin;
};
const read = (bytes) => {
  const begin = room(bytes);
  new Uint8Array(memory.buffer, begin, bytes).set(input.subarray(at, at + bytes));
  at += bytes;
  return begin;
};
const tensors = [];
for (let count = number(); count > 0; --count) {
  const bytes = number(), address = read(bytes);
  tensors.push({bytes, address, offset: number()});
}
const argsBytes = number(), args = read(argsBytes);
for (const t of tensors) new DataView(memory.buffer).setUint32(args + t.offset, t.address, true);
const contextBytes = 44, context = room(contextBytes), error = room(64);
const words = new DataView(memory.buffer);
words.setUint32(context, contextBytes, true);
words.setUint32(context + 20, error, true);
const workspaceBytes = instance.exports[name + '_workspace_bytes'](args, context) >>> 0;
const workspace = room(workspaceBytes), after = new DataView(memory.buffer);
after.setUint32(context + 12, workspace, true);
after.setUint32(context + 16, workspaceBytes, true);
const code = Buffer.alloc(8);
code.writeBigInt64LE(BigInt(instance.exports[name + '_run'](args, context)));
fs.writeFileSync(to, Buffer.concat([code, ...tensors.map((t) => Buffer.from(memory.buffer, t.address, t.bytes))]));
