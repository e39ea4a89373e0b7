// The mark of the product: three streams that become one.
export function Mark() {
  return (
    <svg class="mark" viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="8" />
      <path d="M7 8c0 7 9 5 9 12M25 8c0 7-9 5-9 12M16 7v19" />
    </svg>
  );
}
