// Reads back the PDFs that we write, strictly: every object where the table says, every stream as long as it says.

const at = (text: string, pattern: RegExp) => {
  const [, found] = pattern.exec(text) ?? []
  if (found === undefined) throw new Error(`the file lacks ${pattern}`)
  return found
}

/** The lines of each page. @throws Error for a file that a reader would have to repair */
export function pdfText(bytes: Uint8Array): string[][] {
  const text = new TextDecoder('latin1').decode(bytes)
  const table = Number(at(text, /startxref\n(\d+)\n%%EOF\n$/))
  const [, size = '', rows = ''] = /^xref\n0 (\d+)\n((?:\d{10} \d{5} [nf] \n)+)/.exec(text.slice(table)) ?? []
  const places = rows.trimEnd().split('\n').slice(1)
  if (places.length + 1 !== Number(size)) throw new Error('the table has another size')
  const objects = places.map((row, index) => {
    const object = text.slice(Number(row.slice(0, 10)))
    if (!object.startsWith(`${index + 1} 0 obj\n`)) throw new Error(`object ${index + 1} is elsewhere`)
    return object.slice(0, object.indexOf('\nendobj\n'))
  })
  const objectOf = (id: string) => objects[Number(id) - 1] ?? ''
  const root = objectOf(at(text, /\/Root (\d+) 0 R/))
  const pages = objectOf(at(root, /\/Pages (\d+) 0 R/))
  const kids = [...at(pages, /\/Kids \[([^\]]*)\]/).matchAll(/(\d+) 0 R/g)].map(([, id = '']) => objectOf(id))
  if (kids.length !== Number(at(pages, /\/Count (\d+)/))) throw new Error('a page is missing')
  return kids.map((page) => linesOf(objectOf(at(page, /\/Contents (\d+) 0 R/))))
}

function linesOf(stream: string): string[] {
  const length = Number(at(stream, /\/Length (\d+)/))
  const content = stream.slice(stream.indexOf('stream\n') + 'stream\n'.length)
  if (content.slice(length) !== '\nendstream') throw new Error('a stream has another length')
  return [...content.matchAll(/\(((?:[^\\()]|\\.)*)\) Tj/g)].map(([, literal = '']) =>
    literal.replace(/\\(.)/g, '$1'),
  )
}
