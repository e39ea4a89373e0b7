import type { ComponentChildren } from "preact";

export interface Column<Row> {
  title: string;
  cell: (row: Row) => ComponentChildren;
  numeric?: boolean;
  class?: string;
}

interface Props<Row> {
  columns: Column<Row>[];
  rows: Row[];
  keyOf: (row: Row) => string;
}

/** A table that becomes a list of labelled values where it is narrow; the roles keep it a table for everyone. */
export function Table<Row>({ columns, rows, keyOf }: Props<Row>) {
  return (
    <table role="table">
      <thead role="rowgroup">
        <tr role="row">
          {columns.map((column) => (
            <th key={column.title} role="columnheader" scope="col" class={classOf(column)}>
              {column.title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup">
        {rows.map((row) => (
          <tr key={keyOf(row)} role="row">
            {columns.map((column) => (
              <td key={column.title} role="cell" class={classOf(column)} data-label={column.title}>
                {column.cell(row)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function classOf<Row>(column: Column<Row>): string {
  return [column.numeric && "number", column.class].filter(Boolean).join(" ");
}
