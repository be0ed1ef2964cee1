// A program of the archive: all that it does is in the library. PROGRAM: its function there.
int PROGRAM(int, char**);
int main(int argc, char** argv) { return PROGRAM(argc, argv); }
