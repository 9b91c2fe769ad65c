// A PDF of lines of text: pages of A4 in a standard font, which every reader has. ISO 32000-1; no images, links or fonts of its own.

/** So many characters fit between the margins. */
export const LINE_CHARACTERS = 97

/** A line in fixed width, so that columns align. */
export interface PdfLine {
  readonly text: string
  readonly isBold?: boolean
}

const [WIDTH, HEIGHT, MARGIN] = [595, 842, 48]
const [FONT_SIZE, LINE_HEIGHT] = [8.5, 12]
const FOOT = MARGIN - 20
const LINES_PER_PAGE = Math.floor((HEIGHT - 2 * MARGIN) / LINE_HEIGHT)

/**
 * Pages with these lines, and their numbers at the foot.
 * @param title of the document, which readers show and read out
 */
export function pdfOf(title: string, lines: readonly PdfLine[]): Uint8Array<ArrayBuffer> {
  const pages = pagesOf(lines)
  const pageIds = pages.map((_, index) => FIRST_PAGE + 2 * index)
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R /Lang (en) /ViewerPreferences << /DisplayDocTitle true >> >>',
    `<< /Type /Pages /Count ${pages.length} /Kids [${pageIds.map((id) => `${id} 0 R`).join(' ')}] >>`,
    fontOf('Courier'),
    fontOf('Courier-Bold'),
    `<< /Title ${stringOf(title)} >>`,
    ...pages.flatMap((page, index) => [
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 ${WIDTH} ${HEIGHT}] /Contents ${FIRST_PAGE + 2 * index + 1} 0 R ` +
        '/Resources << /Font << /F1 3 0 R /F2 4 0 R >> >> >>',
      streamOf(contentOf(page, `${index + 1} / ${pages.length}`)),
    ]),
  ]
  return fileOf(objects)
}

/** The first object of a page; each has two, the page and its content. */
const FIRST_PAGE = 6

function pagesOf(lines: readonly PdfLine[]): readonly (readonly PdfLine[])[] {
  const count = Math.max(1, Math.ceil(lines.length / LINES_PER_PAGE))
  return Array.from({ length: count }, (_, page) =>
    lines.slice(page * LINES_PER_PAGE, (page + 1) * LINES_PER_PAGE),
  )
}

const fontOf = (name: string) =>
  `<< /Type /Font /Subtype /Type1 /BaseFont /${name} /Encoding /WinAnsiEncoding >>`

function contentOf(lines: readonly PdfLine[], foot: string): string {
  const shown = lines.map(
    ({ text, isBold = false }) => `/F${isBold ? 2 : 1} ${FONT_SIZE} Tf ${stringOf(text)} Tj T*`,
  )
  const top = HEIGHT - MARGIN - LINE_HEIGHT
  return [
    `BT ${LINE_HEIGHT} TL ${MARGIN} ${top} Td`,
    ...shown,
    'ET',
    `BT /F1 ${FONT_SIZE} Tf ${MARGIN} ${FOOT} Td ${stringOf(foot)} Tj ET`,
  ].join('\n')
}

/** A literal string. A character outside of ASCII, whose code a font may not have, becomes a question mark. */
function stringOf(text: string): string {
  return `(${text.replace(/[^\x20-\x7e]/gu, '?').replace(/[\\()]/g, '\\$&')})`
}

const streamOf = (content: string) => `<< /Length ${content.length} >>\nstream\n${content}\nendstream`

/** Everything is ASCII, so a character is a byte. */
function fileOf(objects: readonly string[]): Uint8Array<ArrayBuffer> {
  let text = '%PDF-1.4\n'
  const places = objects.map((object, index) => {
    const place = text.length
    text += `${index + 1} 0 obj\n${object}\nendobj\n`
    return place
  })
  const table = places.map((place) => `${String(place).padStart(10, '0')} 00000 n \n`)
  const size = objects.length + 1
  text += `xref\n0 ${size}\n0000000000 65535 f \n${table.join('')}`
  const at = text.lastIndexOf('xref\n0 ')
  text += `trailer\n<< /Size ${size} /Root 1 0 R /Info 5 0 R >>\nstartxref\n${at}\n%%EOF\n`
  return new TextEncoder().encode(text)
}
