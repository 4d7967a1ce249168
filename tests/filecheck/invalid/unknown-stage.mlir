// STAGES: fuze
// REFUSED: no stage 'fuze'; known stages:
func.func @main() {
  return
}
