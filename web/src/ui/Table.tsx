import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

export interface Column<Row> {
  title: string;
  cell: (row: Row) => ComponentChildren;
  numeric?: boolean;
  class?: string;
}

interface Props<Row> {
  /** What the table is about, for those who do not see it. */
  label: string;
  columns: Column<Row>[];
  rows: Row[];
  keyOf: (row: Row) => string;
  /** Marks a row, such as the one that is chosen. */
  classOf?: (row: Row) => string;
}

// Rows come in blocks; a block that is out of sight is one empty row of the height that it had.
const BLOCK_ROWS = 40;
const ROW_PX = 45;

/** A table that becomes a list of labelled values where it is narrow; the roles keep it a table for everyone. */
export function Table<Row>(props: Props<Row>) {
  const { label, columns, rows } = props;
  const blocks = Array.from({ length: Math.ceil(rows.length / BLOCK_ROWS) }, (_, index) => index * BLOCK_ROWS);
  return (
    <div class="table">
      <table role="table" aria-label={label} aria-rowcount={rows.length + 1}>
        <thead role="rowgroup">
          <tr role="row">
            {columns.map((column) => (
              <th key={column.title} role="columnheader" scope="col" class={cellClass(column)}>
                {column.title}
              </th>
            ))}
          </tr>
        </thead>
        {blocks.map((start) => (
          <Block key={start} {...props} rows={rows.slice(start, start + BLOCK_ROWS)} isFirst={start === 0} isOnly={blocks.length === 1} />
        ))}
      </table>
    </div>
  );
}

function Block<Row>({ columns, rows, keyOf, classOf, isFirst, isOnly }: Props<Row> & { isFirst: boolean; isOnly: boolean }) {
  const body = useRef<HTMLTableSectionElement>(null);
  const [heightPx, setHeightPx] = useState(isFirst ? null : ROW_PX * rows.length);

  useEffect(() => {
    if (isOnly) return setHeightPx(null);
    const watcher = new IntersectionObserver(
      ([entry]) => setHeightPx(entry!.isIntersecting ? null : entry!.boundingClientRect.height || ROW_PX * rows.length),
      { rootMargin: "800px 0px" },
    );
    watcher.observe(body.current!);
    return () => watcher.disconnect();
  }, [isOnly]);

  return (
    <tbody role="rowgroup" ref={body}>
      {heightPx !== null ? (
        <tr class="spacer" aria-hidden="true">
          <td colSpan={columns.length} style={{ height: `${heightPx}px` }} />
        </tr>
      ) : (
        rows.map((row) => (
          <tr key={keyOf(row)} role="row" class={classOf?.(row)}>
            {columns.map((column) => (
              <td key={column.title} role="cell" class={cellClass(column)} data-label={column.title}>
                {column.cell(row)}
              </td>
            ))}
          </tr>
        ))
      )}
    </tbody>
  );
}

function cellClass<Row>(column: Column<Row>): string {
  return [column.numeric && "number", column.class].filter(Boolean).join(" ");
}
