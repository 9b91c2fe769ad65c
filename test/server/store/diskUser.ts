// A process that uses the disk's thread and prints what it was told. Its arguments: the compiled module of the disk, as a
// thread cannot be started from TypeScript, and the directory.
const [, , module = '', root = ''] = process.argv
const { startDisk }: typeof import('../../../src/server/store/disk.js') = await import(module)
const { files, stop } = startDisk(root)

async function failureOf(action: Promise<unknown>): Promise<unknown> {
  try {
    return { value: await action }
  } catch (error) {
    return error instanceof Error && 'code' in error ? { name: error.name, code: error.code } : String(error)
  }
}

await files.clean()
const absent = [await files.read('a/one.json'), await files.list('a'), await files.remove('a/one.json')]
await Promise.all(
  Array.from({ length: 200 }, (_, index) => files.write(`many/${index % 50}.json`, `text ${index}`)),
)
await files.write('a/one.json', 'first')
await files.write('a/one.json', 'second, ')
await files.append('a/one.json', 'with ü and \u{1f512}')
const said = {
  absent,
  read: await files.read('a/one.json'),
  moved: [await files.move('a/one.json', 'b/two.json'), await files.move('a/one.json', 'b/two.json')],
  lists: [await files.list('a'), await files.list('b'), (await files.list('many')).length],
  removed: [await files.remove('b/two.json'), await files.remove('b/two.json')],
  // A directory where a file should be.
  failed: [await failureOf(files.read('many')), await failureOf(files.write('many', 'text'))],
  missing: await failureOf(files.append('nowhere.json', 'text')),
  left: await files.list('tmp'),
}
await stop()
process.stdout.write(JSON.stringify(said))
