/* Holds what makes builds differ from folder to folder and from day to day. */
const char *toy_where(void);
const char *toy_when(void);

const char *toy_where(void) { return __FILE__; }
const char *toy_when(void) { return __DATE__ " " __TIME__; }
